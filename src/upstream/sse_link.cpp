#include "upstream/sse_link.hpp"

#include "upstream/listing_reader.hpp"
#include "upstream/redirect.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

// A server that says nothing for so long, not even a comment, may be gone without our being told.
constexpr duration longest_silence = std::chrono::minutes(30);
constexpr duration patience = std::chrono::minutes(5);  // for the answer to a request of the server

}  // namespace

sse_link::sse_link(async::worker& control, const http_endpoint& endpoint, connection_pool& pool, std::string get_head)
    : on_(control),
      endpoint_(endpoint),
      pool_(pool),
      get_head_(std::move(get_head)),
      limit_(control.timers),
      opened_(control.io, asio::steady_timer::time_point::max()) {}

asio::awaitable<void> sse_link::run() {
  const std::shared_ptr<sse_link> self = shared_from_this();
  co_await read();
  end();
  if (asked_) co_await asked_->end();
}

asio::awaitable<void> sse_link::read() {
  limit_.arm(async::worker::now() + longest_silence);
  http_reply out;
  http_transfer transfer(on_, endpoint_, pool_, limit_);
  const http_request request{get_head_, {}, {}, {}, {}};
  if (!co_await transfer.begin(request, out)) {
    problem_ = "its event stream cannot be had: " + out.reply.detail;
    co_return;
  }
  status_ = transfer.status();
  if (status_ != 200 || transfer.media_type() != events_type) {
    problem_ = "it has no event stream: " + transfer.page();
    if (!out.reply.detail.empty()) problem_ += ", " + out.reply.detail;
    co_return;
  }
  protocol::sse_reader events(endpoint_.max_answer, &on_.buffers);
  for (;;) {
    limit_.arm(async::worker::now() + longest_silence);
    events.feed(transfer.payload().view());
    protocol::sse_event event;
    for (auto step = events.next(event); step != protocol::sse_reader::step::more; step = events.next(event)) {
      if (step == protocol::sse_reader::step::too_large) co_return;
      if (event.name == "endpoint" && target_.empty()) take_address(event.data);
      if (event.is_message()) take(event.data);
      if (limit_.raised() || !problem_.empty()) co_return;
    }
    transfer.payload().clear();
    if (transfer.done()) co_return;
    if (!co_await transfer.fill(out.reply)) co_return;
  }
}

// A credential goes with every message, so the stream may not send us to another origin (RC-056).
void sse_link::take_address(std::string_view text) {
  if (const auto there = within_origin(endpoint_.address, text)) {
    target_ = there->target;
  } else {
    problem_ = "it names an endpoint that is no address of the same origin: " + shown(text);
  }
  opened_.cancel();
}

asio::awaitable<std::string> sse_link::address(duration timeout, std::string& why) {
  if (target_.empty() && problem_.empty() && !ended_) {
    opened_.expires_after(timeout);
    error_code ignored;
    co_await opened_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  if (target_.empty()) why = problem_.empty() ? "its event stream named no endpoint in time" : problem_;
  co_return target_;
}

void sse_link::attach(news_stream::listener* listener, std::function<void()> on_end) {
  listener_ = listener;
  on_end_ = std::move(on_end);
  asked_.emplace(
      on_, patience,
      [this](std::string_view text, const protocol::message& seen, async::interrupt& until) {
        return answer(text, seen, until);
      },
      [this](std::string response) {
        if (listener_ != nullptr) listener_->respond(std::move(response));
      });
}

// The listener may have gone since the request came.
asio::awaitable<std::string> sse_link::answer(std::string_view text, const protocol::message& seen,
                                              async::interrupt& until) {
  if (listener_ == nullptr) co_return refusal_of(text, seen);
  co_return co_await listener_->asked(text, seen, until);
}

void sse_link::stop() {
  listener_ = nullptr;
  on_end_ = nullptr;
  limit_.raise(async::interrupt::reason::shutdown);
}

void sse_link::end() {
  ended_ = true;
  opened_.cancel();
  for (const auto& [id, one] : std::exchange(callers_, {})) one.box->close();
  if (on_end_) on_end_();
}

void sse_link::enter(std::string id, std::shared_ptr<sse_mailbox> box, bool takes_requests) {
  asio::post(on_.io, [self = shared_from_this(), id = std::move(id), box = std::move(box), takes_requests] {
    if (self->ended_) return box->close();
    self->callers_[id] = {box, takes_requests, ++self->entered_};
  });
}

void sse_link::leave(std::string id) {
  asio::post(on_.io, [self = shared_from_this(), id = std::move(id)] { self->callers_.erase(id); });
}

void sse_link::take(std::string_view text) {
  const auto seen = protocol::peek(text, space_);
  if (!seen) return;  // whose it was cannot be known
  if (caller* one = caller_for(text, *seen)) {
    one->box->put(std::string(text), seen->kind == protocol::kind::response);
    return;
  }
  if (listener_ != nullptr) news_stream::hear(text, *seen, *asked_, *listener_);
}

// The stream does not say to which request a message belongs; only responses and progress do. A request is put to the
// newest caller that takes some; another notification is the only caller's, if there is just one.
sse_link::caller* sse_link::caller_for(std::string_view text, const protocol::message& seen) {
  const auto find = [&](std::string_view id) -> caller* {
    const auto found = callers_.find(id);
    return found == callers_.end() ? nullptr : &found->second;
  };
  switch (seen.kind) {
    case protocol::kind::response:
      return find(seen.id.in(text));
    case protocol::kind::request: {
      caller* newest = nullptr;
      for (auto& [id, one] : callers_) {
        if (one.takes_requests && (newest == nullptr || one.order > newest->order)) newest = &one;
      }
      return seen.method == "ping" ? nullptr : newest;
    }
    case protocol::kind::notification:
      break;
  }
  if (seen.progress_token) return find(seen.progress_token.in(text));
  // Whoever was asked will know the id.
  if (seen.method == "notifications/cancelled") {
    for (auto& [id, one] : callers_) {
      if (one.takes_requests) one.box->put(std::string(text), false);
    }
    return nullptr;
  }
  if (says_list_changed(seen.method) || callers_.size() != 1) return nullptr;
  return &callers_.begin()->second;
}

}  // namespace switchgear::upstream
