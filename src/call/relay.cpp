#include "call/relay.hpp"

#include <utility>

namespace switchgear::call {

void relay::take(std::string_view text, const protocol::message& seen) {
  if (seen.method != "notifications/progress" || !seen.progress_token) return;
  parts message;
  protocol::splice(text, seen, {{}, {}, token_}, message);
  client_.add(std::move(message));
}

}  // namespace switchgear::call
