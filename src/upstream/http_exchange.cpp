#include "upstream/http_exchange.hpp"

#include "async/wait.hpp"
#include "upstream/errc.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

// Between the end of a stream and the request for its rest, when the server has named no time; doubled while nothing
// new comes.
constexpr duration shortest_wait = std::chrono::milliseconds(100);
constexpr duration longest_wait = std::chrono::seconds(5);

}  // namespace

asio::awaitable<void> http_exchange::run(const http_request& request, http_reply& out) {
  transfer_.emplace(on_, endpoint_, pool_, interrupt_);
  if (co_await transfer_->begin(request, out)) co_await read_answer(request, out.reply);
  transfer_.reset();
  co_await conversation_.end();
}

asio::awaitable<void> http_exchange::read_answer(const http_request& request, port::reply& reply) {
  const bool is_success = reply.status >= 200 && reply.status < 300;
  if (!request.id.empty()) interrupt_.heard(async::interrupt::sign::answer);
  if (request.id.empty() && is_success) {
    port::reply ignored;
    if (co_await transfer_->read_whole(ignored, most_failure_body)) transfer_->finish();
    co_return;
  }
  if (reply.status == 200 && transfer_->media_type() == events_type) {
    co_await read_stream(request, reply);
    co_return;
  }
  if (reply.status == 200 && transfer_->media_type() == json_type) {
    if (!co_await transfer_->read_whole(reply, endpoint_.max_answer, true)) co_return;
    reply.body = std::move(transfer_->payload());
    take_message(request.id, reply);
  } else {
    co_await read_failure(request, reply);
  }
  if (reply.has_message || reply.fault == port::fault::none || transfer_->done()) transfer_->finish();
}

void http_exchange::take_message(std::string_view id, port::reply& reply) {
  const auto refuse = [&](std::string detail) {
    if (reply.fault != port::fault::none) return;
    reply.fault = port::fault::bad_message;
    reply.detail = std::move(detail);
  };
  const auto seen = protocol::peek(reply.body.view(), space_);
  if (!seen || seen->kind != protocol::kind::response) {
    return refuse(transfer_->page() + " that is no JSON-RPC response" +
                  (seen ? "" : " (" + seen.error().message() + ")") + ": " + shown(reply.body.view()));
  }
  const std::string_view theirs = seen->id.in(reply.body.view());
  if (theirs != id) return refuse(transfer_->page() + ": a response to id " + shown(theirs) + ", which nobody sent");
  accept(*seen, reply);
}

asio::awaitable<void> http_exchange::read_stream(const http_request& request, port::reply& reply) {
  duration wait = shortest_wait;
  for (;;) {
    const std::string before = last_event_;
    const ending how = co_await read_events(request.id, reply);
    if (how == ending::answered) transfer_->finish();
    if (how != ending::cut) co_return;
    if (last_event_.empty() || request.rest_head.empty()) co_return;
    wait = last_event_ != before ? shortest_wait : std::min(wait * 2, longest_wait);
    const auto named = events_->retry_ms();
    // A server that holds no stream for the call wants nobody to hold one: our client may come back for the answer too.
    conversation_.let_go();
    transfer_.reset();
    if (!co_await ask_for_rest(request, reply, named ? std::chrono::milliseconds(*named) : wait)) co_return;
  }
}

// Reads until the response has come or the stream is over. Over before the response: `reply` has the fault that it is
// unless there is a rest to ask for.
asio::awaitable<http_exchange::ending> http_exchange::read_events(std::string_view id, port::reply& reply) {
  events_.emplace(endpoint_.max_answer, &on_.buffers);
  std::size_t before = 0;
  for (;;) {
    events_->feed(transfer_->payload().view());
    protocol::sse_event event;
    for (auto step = events_->next(event); step != protocol::sse_reader::step::more; step = events_->next(event)) {
      if (step == protocol::sse_reader::step::too_large) {
        reply.detail = "an event of more than the limit of " + std::to_string(endpoint_.max_answer) + " bytes";
        transfer_->fail(reply, make_error_code(errc::too_large));
        co_return ending::failed;
      }
      if (!event.is_message()) continue;
      std::string problem;
      if (!co_await conversation_.take(id, event.data, reply, problem)) {
        reply.fault = port::fault::bad_message;
        reply.detail =
            transfer_->page() + ": an event that is no JSON-RPC message (" + problem + "): " + shown(event.data);
        co_return ending::failed;
      }
      if (reply.has_message) co_return ending::answered;
    }
    if (!events_->last_id().empty()) last_event_ = events_->last_id();
    // A large event comes in pieces. Comments are no piece of anything (RC-002).
    const std::size_t held = events_->held();
    if (held > before) interrupt_.heard(async::interrupt::sign::answer);
    before = held;
    transfer_->payload().clear();
    if (transfer_->done()) break;
    co_await conversation_.flush();
    if (!co_await transfer_->fill(reply)) co_return interrupt_.raised() ? ending::failed : ending::cut;
  }
  reply.fault = port::fault::bad_message;
  reply.detail = transfer_->page() + ": the stream ended without the response";
  co_return ending::cut;
}

asio::awaitable<void> http_exchange::pause(duration length) {
  asio::steady_timer timer(on_.io, length);
  co_await async::wait(timer, interrupt_);
}

asio::awaitable<bool> http_exchange::ask_for_rest(const http_request& request, port::reply& reply, duration wait) {
  const std::string fields = "Last-Event-ID: " + last_event_ + "\r\n";
  const http_request get{request.rest_head, fields, {}, request.id, {}, request.credential};
  for (;; wait = std::min(wait * 2, longest_wait)) {
    co_await pause(wait);
    http_reply rest;
    rest.reply.sent = rest.reply.head_seen = true;  // of the request whose answer this is
    transfer_.emplace(on_, endpoint_, pool_, interrupt_);
    const bool begun = co_await transfer_->begin(get, rest);
    if (interrupt_.raised()) {
      rest.reply.status = reply.status;
      reply = std::move(rest.reply);
      if (begun) transfer_->fail(reply, make_error_code(errc::interrupted));
      co_return false;
    }
    if (!begun) continue;  // a server that restarts: the deadline ends the patience
    if (rest.reply.status == 200 && transfer_->media_type() == events_type) {
      reply = std::move(rest.reply);
      co_return true;
    }
    reply.detail += "; asked for its rest: " + transfer_->page();
    co_return false;
  }
}

asio::awaitable<void> http_exchange::read_failure(const http_request& request, port::reply& reply) {
  const bool is_success = reply.status >= 200 && reply.status < 300;
  const bool has_type = !transfer_->media_type().empty() && reply.status != 202;
  reply.fault = !is_success ? port::fault::bad_status
                : has_type  ? port::fault::bad_media_type
                            : port::fault::bad_message;
  port::reply aside;  // what goes wrong while reading the failure must not hide the failure
  aside.sent = aside.head_seen = true;
  const std::string seen_detail = std::move(reply.detail);
  const bool whole = co_await transfer_->read_whole(aside, most_failure_body);
  if (!whole && interrupt_.raised()) {
    reply.fault = aside.fault;
    reply.detail = aside.detail;
    co_return;
  }
  reply.body = std::move(transfer_->payload());
  reply.detail = transfer_->page();
  if (!seen_detail.empty()) {
    reply.detail += ", " + seen_detail;
  } else if (!reply.body.empty()) {
    reply.detail += ": " + shown(reply.body.view());
  }
  if (whole) take_message(request.id, reply);
}

}  // namespace switchgear::upstream
