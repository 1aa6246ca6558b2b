#include "call/limiters.hpp"

namespace switchgear::call {

std::shared_ptr<limiter> limiters::find(bool of_server, std::string_view name,
                                        const cascade::concurrency_policy& policy) {
  if (!policy.limits()) return nullptr;
  auto& entry = known_[{of_server, std::string(name)}];
  std::shared_ptr<limiter> one = entry.lock();
  if (!one) {
    one = std::make_shared<limiter>(std::string(name), of_server, policy);
    entry = one;
    std::erase_if(known_, [](const auto& each) { return each.second.expired(); });
  }
  return one;
}

std::vector<port::limit_figures> limiters::figures() const {
  std::vector<port::limit_figures> all;
  for (const auto& [name, entry] : known_) {
    if (const auto one = entry.lock()) all.push_back(one->figures());
  }
  return all;
}

}  // namespace switchgear::call
