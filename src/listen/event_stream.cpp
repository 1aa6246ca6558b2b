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

// Events that may wait for a client that has gone and will come back.
constexpr std::size_t most_kept = 256 * 1024;

std::string chunk(std::string_view events) {
  char size[16];
  char* const end = std::to_chars(size, size + sizeof size, events.size(), 16).ptr;
  return std::string(size, end).append(line_end).append(events).append(line_end);
}

// An event without data says nothing but its id; how soon the client may come back goes with it.
std::string first_event(std::string_view id) {
  return std::string("id: ").append(id).append("\nretry: 500\ndata: \n\n");
}

}  // namespace

event_stream::~event_stream() {
  if (number_ != 0) questions_.close_route(number_);
  if (!first_id_.empty()) resumption_.parked->drop(first_id_);
}

std::uint64_t event_stream::number() {
  if (number_ == 0) number_ = questions_.new_route();
  return number_;
}

void event_stream::add(parts message) {
  if (is_away() && (first_id_.empty() || pending_.size() > most_kept)) return;
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
  if (!pending_.empty() && !is_away()) co_await write_chunk({}, false);
}

asio::awaitable<std::string> event_stream::ask(std::string_view text, const protocol::message& seen,
                                               async::interrupt& until) {
  if (asker_ == nullptr || is_away()) {
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
  if (first_id_.empty()) pending_.clear();
  if (number_ != 0) questions_.close_route(number_);
  if (interrupt_ != nullptr) interrupt_->raise(async::interrupt::reason::cancelled);
}

void event_stream::let_go() {
  if (resumption_.parked == nullptr || is_away()) return;
  if (writing_) {
    letting_go_ = true;
    return;
  }
  if (!opened_) first_id_ = resumption_.parked->begin(asker_->id());
  if (first_id_.empty()) return;  // too many are away already
  std::string text = std::exchange(unsent_, {});
  if (!opened_) text.append(head).append(chunk(first_event(first_id_)));
  if (!pending_.empty()) text.append(chunk(std::exchange(pending_, {})));
  text.append(last_chunk);
  opened_ = let_go_ = true;
  disarm();
  if (number_ != 0) questions_.close_route(number_);
  // The socket takes this little, or its client is not worth waiting for: it can come back on another one.
  if (client_.write_now(text) == text.size()) {
    resumption_.release(resumption_.context, client_.release());
  } else {
    client_.close();
  }
}

void event_stream::park(const parts& answer) {
  std::string events = std::exchange(pending_, {});
  for (std::string_view piece : answer) events.append(piece);
  resumption_.parked->settle(std::exchange(first_id_, {}), std::move(events), async::worker::now());
}

asio::awaitable<bool> event_stream::finish(parts answer) {
  if (writing_) co_await turn();
  std::string space;
  if (!answer.empty()) protocol::frame_event(answer, space);
  disarm();
  const bool owed = !first_id_.empty();
  if (owed && (is_away() || resumption_.parked->is_wanted(first_id_))) {
    park(answer);
    co_return false;
  }
  const parts kept = owed ? answer : parts();
  co_await write_chunk(std::move(answer), true);
  disarm();
  if (owed && broken_) park(kept);
  if (owed && !broken_) resumption_.parked->drop(std::exchange(first_id_, {}));
  co_return !is_away();
}

asio::awaitable<void> event_stream::write_chunk(parts message, bool last) {
  if (is_away()) co_return;
  // A stream that is nothing but its answer needs no way back to it.
  std::string first;
  if (!opened_ && !last && resumption_.parked != nullptr) {
    first_id_ = resumption_.parked->begin(asker_->id());
    if (!first_id_.empty()) first = chunk(first_event(first_id_));
  }
  const std::string events = std::exchange(pending_, {});
  const std::string comment = std::exchange(unsent_, {});
  const std::size_t bytes = events.size() + total_size(message);
  char size[20];
  char* end = std::to_chars(size, size + 16, bytes, 16).ptr;
  *end++ = '\r';
  *end++ = '\n';

  parts pieces;
  if (!opened_) pieces.push_back(head);
  if (!first.empty()) pieces.push_back(first);
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
    if (std::exchange(letting_go_, false)) let_go();
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
