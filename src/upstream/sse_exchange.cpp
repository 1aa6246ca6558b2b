// One request over an sse_link: posted on the call's worker, answered through its mailbox.
#include "async/wait.hpp"
#include "upstream/sse_link.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

void sse_mailbox::put(std::string text, bool is_response) {
  asio::post(on_.io, [self = shared_from_this(), text = std::move(text), is_response]() mutable {
    if (!is_response && self->waiting_.size() >= most_waiting) return;
    self->waiting_.push_back(std::move(text));
    self->arrived_.cancel();
  });
}

void sse_mailbox::close() {
  asio::post(on_.io, [self = shared_from_this()] {
    self->closed_ = true;
    self->arrived_.cancel();
  });
}

asio::awaitable<std::optional<std::string>> sse_mailbox::next(async::interrupt& interrupt) {
  while (waiting_.empty() && !closed_ && !interrupt.raised()) co_await async::wait(arrived_, interrupt);
  if (waiting_.empty() || interrupt.raised()) co_return std::nullopt;
  std::string text = std::move(waiting_.front());
  waiting_.pop_front();
  co_return text;
}

asio::awaitable<void> sse_exchange::run(sse_link& link, const http_request& request, http_reply& out) {
  const std::string id(request.id);
  const auto box = std::make_shared<sse_mailbox>(on_);
  if (!id.empty()) link.enter(id, box, client_ != nullptr);
  http_request posted = request;
  posted.id = {};
  {
    http_exchange exchange(on_, endpoint_, pool_, interrupt_, nullptr);
    co_await exchange.run(posted, out);
  }
  if (id.empty()) co_return;
  if (out.reply.fault == port::fault::none) {
    out.reply.head_seen = false;  // that the message was taken is no part of its answer
    out.reply.status = 0;
    co_await read_answer(*box, id, out.reply);
  }
  link.leave(id);
}

asio::awaitable<void> sse_exchange::read_answer(sse_mailbox& box, std::string_view id, port::reply& reply) {
  using port::fault;
  conversation talk(on_, interrupt_, client_, session_);
  while (!reply.has_message && reply.fault == fault::none) {
    co_await talk.flush();
    const std::optional<std::string> text = co_await box.next(interrupt_);
    if (text) {
      std::string ignored;  // the link has read it before
      reply.head_seen = true;
      co_await talk.take(id, *text, reply, ignored);
    } else if (!interrupt_.raised()) {
      reply.fault = fault::lost;
      reply.detail = "the event stream ended before the response";
    } else if (interrupt_.why() != async::interrupt::reason::deadline) {
      reply.fault = fault::cancelled;
    } else {
      reply.fault = reply.head_seen ? fault::deadline_after_head : fault::deadline;
    }
  }
  if (reply.has_message) reply.status = 200;
  co_await talk.end();
}

}  // namespace switchgear::upstream
