#include "upstream/news_stream.hpp"

#include "upstream/listing_reader.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

constexpr duration shortest_pause = std::chrono::milliseconds(250);
constexpr duration longest_pause = std::chrono::seconds(5);
constexpr duration longest_named_pause = std::chrono::minutes(1);
// A connection that says nothing for so long may be dead without our being told; servers that keep theirs warm do it
// more often.
constexpr duration longest_silence = std::chrono::minutes(15);
constexpr duration patience = std::chrono::minutes(5);  // for the answer to a request of the server

}  // namespace

news_stream::news_stream(async::worker& on, const http_endpoint& endpoint, connection_pool& pool, opening request,
                         listener& owner)
    : on_(on),
      endpoint_(endpoint),
      pool_(pool),
      request_(std::move(request)),
      owner_(owner),
      asked_(
          on, patience,
          [this](std::string_view text, const protocol::message& seen, async::interrupt& until) {
            return owner_.asked(text, seen, until);
          },
          [this](std::string response) { owner_.respond(std::move(response)); }),
      timer_(on.io) {}

void news_stream::stop() {
  stopped_ = true;
  if (limit_) limit_->raise(async::interrupt::reason::shutdown);
  timer_.cancel();
}

asio::awaitable<void> news_stream::run() {
  duration wait = shortest_pause;
  while (!stopped_) {
    heard_ = false;
    const ending how = co_await read_once();
    if (stopped_) break;
    if (was_open_ && (how == ending::refused || how == ending::denied)) {
      owner_.list_changed();  // the session is gone, as a listing will find
    }
    if (how == ending::refused) break;
    if (how == ending::denied) {
      co_await wait_for_credential();
      continue;
    }
    wait = heard_ ? shortest_pause : std::min(wait * 2, longest_pause);
    const duration named = std::chrono::milliseconds(retry_ms_.value_or(0));
    co_await pause(retry_ms_ ? std::min(std::max(named, duration(std::chrono::milliseconds(10))), longest_named_pause)
                             : wait);
  }
  co_await asked_.end();
}

asio::awaitable<void> news_stream::pause(duration length) {
  timer_.expires_after(length);
  error_code ignored;
  if (!stopped_) co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

// One that has expired is followed by another as soon as there is a call.
asio::awaitable<void> news_stream::wait_for_credential() {
  while (!stopped_ && request_.credential->now() == as_) co_await pause(longest_pause);
}

asio::awaitable<news_stream::ending> news_stream::read_once() {
  limit_.emplace(on_.timers);
  limit_->arm(async::worker::now() + longest_silence);
  std::string fields = request_.fields;
  if (request_.id.empty() && !last_event_.empty()) fields += "Last-Event-ID: " + last_event_ + "\r\n";
  as_ = request_.credential != nullptr ? request_.credential->now() : std::make_shared<const std::string>();
  const http_request request{request_.head, fields, {request_.body}, request_.id, {}, *as_};
  http_reply out;
  http_transfer transfer(on_, endpoint_, pool_, *limit_);
  if (!co_await transfer.begin(request, out)) co_return ending::broken;
  const int status = transfer.status();
  if (status == 200 && transfer.media_type() == events_type) {
    again_ = std::exchange(was_open_, true);
    if (again_) owner_.list_changed();
    co_return co_await read_events(transfer);
  }
  const bool denied = !as_->empty() && (status == 401 || status == 403);
  const bool may_pass = status >= 500 || status == 408 || status == 429;
  port::reply ignored;
  if (co_await transfer.read_whole(ignored, most_failure_body)) transfer.finish();
  if (denied) co_return ending::denied;
  co_return may_pass ? ending::broken : ending::refused;
}

asio::awaitable<news_stream::ending> news_stream::read_events(http_transfer& transfer) {
  protocol::sse_reader events(endpoint_.max_answer, &on_.buffers);
  for (;;) {
    limit_->arm(async::worker::now() + longest_silence);
    events.feed(transfer.payload().view());
    protocol::sse_event event;
    for (auto step = events.next(event); step != protocol::sse_reader::step::more; step = events.next(event)) {
      if (step == protocol::sse_reader::step::too_large) co_return ending::broken;
      if (event.is_message() && !take(event.data)) co_return ending::done;
      if (stopped_) co_return ending::done;
    }
    if (!events.last_id().empty()) last_event_ = events.last_id();
    if (events.retry_ms()) retry_ms_ = events.retry_ms();
    transfer.payload().clear();
    if (transfer.done()) co_return ending::done;
    port::reply ignored;
    if (!co_await transfer.fill(ignored)) co_return ending::broken;
  }
}

// False: the server has ended the stream.
bool news_stream::take(std::string_view text) {
  const auto seen = protocol::peek(text, space_);
  if (!seen) return true;  // nobody waits for it, so nobody need be told
  heard_ = true;
  if (seen->kind == protocol::kind::response) return request_.id.empty() || seen->id.in(text) != request_.id;
  if (seen->method == "notifications/subscriptions/acknowledged") {
    owner_.acknowledged(again_);
  } else {
    hear(text, *seen, asked_, owner_);
  }
  return true;
}

void news_stream::hear(std::string_view text, const protocol::message& seen, asked_requests& asked, listener& owner) {
  if (seen.kind == protocol::kind::response) return;
  if (seen.kind == protocol::kind::request) {
    asked.add(text, seen);
  } else if (says_list_changed(seen.method)) {
    owner.list_changed();
  } else if (seen.method == "notifications/cancelled") {
    asked.take_back(seen.cancelled_id.in(text));
  } else {
    owner.notified(text, seen);
  }
}

}  // namespace switchgear::upstream
