#include "call/relay.hpp"

namespace switchgear::call {

boost::asio::awaitable<void> relay::on_notification(std::string_view text, const protocol::message& seen) {
  if (seen.method != "notifications/progress" || !seen.progress_token) co_return;
  parts pieces;
  protocol::splice(text, seen, {{}, {}, token_}, pieces);
  rewritten_.clear();
  rewritten_.reserve(total_size(pieces) + buffer::padding);
  for (const std::string_view piece : pieces) rewritten_.append(piece);
  // The token may have another length, so every position after it has moved.
  const auto moved = protocol::peek(rewritten_, scratch_);
  if (moved) co_await client_.on_notification(rewritten_, *moved);
}

}  // namespace switchgear::call
