#include "listen/event_stream.hpp"

#include "protocol/errors.hpp"
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

void event_stream::add(parts message) {
  if (broken_) return;
  std::string space;
  protocol::frame_event(message, space);
  for (std::string_view piece : message) pending_.append(piece);
}

asio::awaitable<void> event_stream::flush() {
  if (pending_.empty()) co_return;
  co_await write_chunk({}, false);
}

asio::awaitable<std::string> event_stream::ask(std::string_view text, const protocol::message& seen,
                                               async::interrupt&) {
  co_return protocol::write_error(seen.id.in(text), protocol::code::method_not_found, "the client cannot be asked");
}

asio::awaitable<bool> event_stream::finish(parts answer) {
  std::string space;
  protocol::frame_event(answer, space);
  co_await write_chunk(std::move(answer), true);
  disarm();
  co_return !broken_;
}

asio::awaitable<void> event_stream::write_chunk(parts message, bool last) {
  if (broken_) co_return;
  char size[20];
  char* end = std::to_chars(size, size + 16, pending_.size() + total_size(message), 16).ptr;
  *end++ = '\r';
  *end++ = '\n';

  parts pieces;
  if (!opened_) pieces.push_back(head);
  if (!unsent_.empty()) pieces.push_back(unsent_);
  pieces.emplace_back(size, static_cast<std::size_t>(end - size));
  if (!pending_.empty()) pieces.push_back(pending_);
  pieces.insert(pieces.end(), message.begin(), message.end());
  pieces.push_back(last ? last_chunk : line_end);
  opened_ = true;
  writing_ = true;
  const error_code failed = co_await client_.write(std::move(pieces));
  writing_ = false;
  unsent_.clear();
  pending_.clear();
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
