#include "listen/event_stream.hpp"

#include "protocol/sse.hpp"

#include <charconv>
#include <utility>

namespace switchgear::listen {

namespace asio = boost::asio;

namespace {

// The two hints keep proxies on the way from holding events back.
constexpr std::string_view head =
    "HTTP/1.1 200 OK\r\n"
    "Content-Type: text/event-stream\r\n"
    "Cache-Control: no-cache\r\n"
    "X-Accel-Buffering: no\r\n"
    "Transfer-Encoding: chunked\r\n"
    "\r\n";

constexpr std::string_view keep_alive_chunk = "e\r\n: keep-alive\n\n\r\n";
static_assert(protocol::keep_alive_event.size() == 0xe &&
              keep_alive_chunk.substr(3, 0xe) == protocol::keep_alive_event);

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view last_chunk = "\r\n0\r\n\r\n";

}  // namespace

asio::awaitable<void> event_stream::on_notification(std::string_view text, const protocol::message&) {
  parts message;
  message.push_back(text);
  co_await write_event(std::move(message), false);
}

asio::awaitable<bool> event_stream::finish(parts answer) {
  co_await write_event(std::move(answer), true);
  disarm();
  co_return !broken_;
}

asio::awaitable<void> event_stream::write_event(parts message, bool last) {
  if (broken_) co_return;
  std::string space;
  protocol::frame_event(message, space);
  char size[20];
  char* end = std::to_chars(size, size + 16, total_size(message), 16).ptr;
  *end++ = '\r';
  *end++ = '\n';

  const std::string unsent = std::exchange(unsent_, {});
  parts pieces;
  if (!opened_) pieces.push_back(head);
  if (!unsent.empty()) pieces.push_back(unsent);
  pieces.emplace_back(size, static_cast<std::size_t>(end - size));
  pieces.insert(pieces.end(), message.begin(), message.end());
  pieces.push_back(last ? last_chunk : line_end);
  opened_ = true;
  writing_ = true;
  const error_code failed = co_await client_.write(std::move(pieces));
  writing_ = false;
  if (failed) {
    broken_ = true;
    disarm();
  } else if (!last) {
    on_.timers.arm(*this, async::worker::now() + keep_alive);
  }
}

void event_stream::fire() {
  // Bytes of two chunks must not mix: while an event is on its way the stream is not silent anyway.
  if (!writing_ && unsent_.empty()) {
    const std::size_t written = client_.write_now(keep_alive_chunk);
    if (written != 0 && written < keep_alive_chunk.size()) unsent_ = keep_alive_chunk.substr(written);
  }
  on_.timers.arm(*this, async::worker::now() + keep_alive);
}

}  // namespace switchgear::listen
