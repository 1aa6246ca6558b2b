#include "breaker/permit.hpp"

namespace switchgear::breaker {

bool permit::give_back() noexcept {
  if (!std::exchange(held_, false)) return false;
  const bool tool_news = tool_.gate->give_back(tool_);
  return server_.gate->give_back(server_) || tool_news;
}

}  // namespace switchgear::breaker
