#include "listen/event_stream.hpp"

#include "protocol/errors.hpp"
#include "protocol/sse.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

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
constexpr std::string_view last_chunk = "0\r\n\r\n";

}  // namespace

event_stream::~event_stream() {
  if (number_ != 0) questions_.close_route(number_);
}

std::uint64_t event_stream::number() {
  if (number_ == 0) number_ = questions_.new_route();
  return number_;
}

void event_stream::add(parts message) {
  if (broken_) return;
  std::string space;
  protocol::frame_event(message, space);
  for (std::string_view piece : message) pending_.append(piece);
}

// The call and the questions of its server write side by side; a chunk must not begin inside another.
asio::awaitable<void> event_stream::turn() {
  while (writing_) {
    if (!turn_) turn_ = std::make_unique<asio::steady_timer>(on_.io, time_point::max());
    error_code ignored;
    co_await turn_->async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

asio::awaitable<void> event_stream::flush() {
  if (writing_) co_await turn();
  if (!pending_.empty()) co_await write_chunk({}, false);
}

asio::awaitable<std::string> event_stream::ask(std::string_view text, const protocol::message& seen,
                                               async::interrupt& until) {
  if (asker_ == nullptr || broken_) {
    co_return protocol::write_error(seen.id.in(text), protocol::code::method_not_found, "the client cannot be asked");
  }
  co_return co_await questions_.ask(
      on_, {.stream = *this, .number = number(), .session = asker_->id(), .abilities = asker_->abilities()}, text, seen,
      until);
}

asio::awaitable<void> event_stream::open() {
  pending_ = protocol::keep_alive_event;
  co_await flush();
}

void event_stream::break_off() {
  if (broken_) return;
  broken_ = true;
  disarm();
  pending_.clear();
  if (number_ != 0) questions_.close_route(number_);
  if (interrupt_ != nullptr) interrupt_->raise(async::interrupt::reason::cancelled);
}

asio::awaitable<bool> event_stream::finish(parts answer) {
  if (writing_) co_await turn();
  std::string space;
  if (!answer.empty()) protocol::frame_event(answer, space);
  co_await write_chunk(std::move(answer), true);
  disarm();
  co_return !broken_;
}

asio::awaitable<void> event_stream::write_chunk(parts message, bool last) {
  if (broken_) co_return;
  const std::string events = std::exchange(pending_, {});
  const std::string comment = std::exchange(unsent_, {});
  const std::size_t bytes = events.size() + total_size(message);
  char size[20];
  char* end = std::to_chars(size, size + 16, bytes, 16).ptr;
  *end++ = '\r';
  *end++ = '\n';

  parts pieces;
  if (!opened_) pieces.push_back(head);
  if (!comment.empty()) pieces.push_back(comment);
  if (bytes != 0) {
    pieces.emplace_back(size, static_cast<std::size_t>(end - size));
    if (!events.empty()) pieces.push_back(events);
    pieces.insert(pieces.end(), message.begin(), message.end());
    pieces.push_back(line_end);
  }
  if (last) pieces.push_back(last_chunk);
  opened_ = true;
  writing_ = true;
  const error_code failed = co_await client_.write(std::move(pieces));
  writing_ = false;
  if (turn_) turn_->cancel();
  if (failed) {
    break_off();
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
