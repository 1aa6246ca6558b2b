#include "upstream/conversation.hpp"

#include "upstream/listing_reader.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

void accept(const protocol::message& seen, port::reply& reply) {
  // Spans hold in any copy of the text; the unescaped views do not, and a caller has the spans.
  reply.message = seen;
  reply.message.method = reply.message.error_message = {};
  reply.has_message = true;
}

asio::awaitable<bool> conversation::take(std::string_view id, std::string_view text, port::reply& reply,
                                         std::string& problem) {
  const auto seen = protocol::peek(text, space_);
  if (!seen) {
    problem = seen.error().message();
    co_return false;
  }
  if (seen->kind == protocol::kind::notification) take_notification(id, text, *seen);
  if (seen->kind == protocol::kind::request) co_await take_request(text, *seen);
  // A response to another id is nobody's; the stream may still bring ours.
  if (seen->kind == protocol::kind::response && seen->id.in(text) == id) {
    reply.body = on_.buffers.take();
    reply.body.append(text);
    accept(*seen, reply);
  }
  co_return true;
}

void conversation::take_notification(std::string_view id, std::string_view text, const protocol::message& seen) {
  if (says_list_changed(seen.method)) {
    if (session_ != nullptr) session_->list_changed();
  } else if (seen.method == "notifications/cancelled") {
    if (asked_) asked_->take_back(seen.cancelled_id.in(text));
  } else {
    const bool is_progress = seen.method == "notifications/progress";
    // Of another call, or of none: the client would take it for its own.
    if (is_progress && seen.progress_token.in(text) != id) return;
    if (is_progress) interrupt_.heard(async::interrupt::sign::progress);
    if (client_ != nullptr) client_->take(text, seen);
  }
}

asio::awaitable<void> conversation::take_request(std::string_view text, const protocol::message& seen) {
  if (session_ == nullptr) co_return;
  if (client_ == nullptr) {
    session_->respond(refusal_of(text, seen));
    co_return;
  }
  if (!asked_) {
    asked_.emplace(
        on_, duration::zero(),
        [this](std::string_view asked, const protocol::message& message, async::interrupt& until) {
          return client_->ask(asked, message, until);
        },
        [this](std::string response) { session_->respond(std::move(response)); });
  }
  // What came before the request reaches the client before it, and the request before what comes after it.
  co_await client_->flush();
  asked_->add(text, seen);
  co_await asio::post(on_.io, asio::use_awaitable);
}

asio::awaitable<void> conversation::flush() {
  if (client_ != nullptr) co_await client_->flush();
}

void conversation::let_go() {
  if (client_ != nullptr) client_->let_go();
}

asio::awaitable<void> conversation::end() {
  if (asked_) co_await asked_->end();
}

}  // namespace switchgear::upstream
