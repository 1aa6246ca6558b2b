#include "upstream/stdio_exchange.hpp"

#include "async/wait.hpp"
#include "protocol/errors.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

void refuse(const asked_request& question, std::string_view why) {
  const kept_message& request = question.request;
  question.answer(protocol::write_error(request.seen.id.in(request.text.view()), protocol::code::internal_error, why));
}

}  // namespace

bool stdio_exchange::begin() {
  stage expected = stage::queued;
  return stage_.compare_exchange_strong(expected, stage::sent, std::memory_order_acq_rel);
}

bool stdio_exchange::withdraw() {
  stage expected = stage::queued;
  return stage_.compare_exchange_strong(expected, stage::withdrawn, std::memory_order_acq_rel);
}

void stdio_exchange::heard(kept_message notification) {
  const std::size_t bytes = notification.text.size();
  if (may_deliver(bytes)) deliver(std::move(notification), bytes);
}

void stdio_exchange::asked(asked_request question) {
  const std::size_t bytes = question.request.text.size();
  if (may_deliver(bytes)) return deliver(std::move(question), bytes);
  refuse(question, "too much waits to be read by the client");
}

void stdio_exchange::withdrawn(std::string_view question) {
  deliver(withdrawal{std::string(question)}, 0);
}

void stdio_exchange::answered(kept_message response) {
  port::reply reply;
  reply.sent = true;
  reply.head_seen = true;
  reply.body = std::move(response.text);
  reply.message = response.seen;
  // What held escapes goes with the message's own space.
  if (response.space) reply.message.error_message = {};
  reply.has_message = true;
  reply.era = call_.era;
  deliver(std::move(reply));
}

void stdio_exchange::failed(port::fault why, std::string_view detail, bool sent) {
  port::reply reply;
  reply.fault = why;
  reply.sent = sent;
  reply.detail = detail;
  deliver(std::move(reply));
}

void stdio_exchange::refuse_era() {
  asio::post(on_.io, [self = shared_from_this()] {
    if (self->waiter_ == nullptr) return;
    self->waiter_->wrong_era_ = true;
    self->waiter_->wake_.cancel();
  });
}

// One message always may, however large: the child's own limit has let it pass.
bool stdio_exchange::may_deliver(std::size_t bytes) {
  const unsigned count = undelivered_.load(std::memory_order_relaxed);
  if (count == 0) return true;
  return count < most_undelivered &&
         undelivered_bytes_.load(std::memory_order_relaxed) + bytes <= most_undelivered_bytes;
}

void stdio_exchange::deliver(event happened, std::size_t bytes) {
  undelivered_.fetch_add(1, std::memory_order_relaxed);
  undelivered_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  asio::post(on_.io, [self = shared_from_this(), happened = std::move(happened), bytes]() mutable {
    waiter* const here = self->waiter_;
    if (here == nullptr) {
      if (const auto* question = std::get_if<asked_request>(&happened)) refuse(*question, "the call has ended");
      return;
    }
    here->events_.push_back({std::move(happened), bytes});
    here->heard_something_ = true;
    here->wake_.cancel();
  });
}

void stdio_exchange::deliver(port::reply reply) {
  asio::post(on_.io, [self = shared_from_this(), reply = std::move(reply)]() mutable {
    if (self->waiter_ == nullptr) return;
    self->waiter_->answer_ = std::move(reply);
    self->waiter_->wake_.cancel();
  });
}

stdio_exchange::waiter::waiter(stdio_exchange& exchange)
    : exchange_(exchange), wake_(exchange.on_.io, asio::steady_timer::time_point::max()) {
  exchange_.waiter_ = this;
}

stdio_exchange::waiter::~waiter() {
  exchange_.waiter_ = nullptr;
  for (const delivered& left : events_) {
    if (const auto* question = std::get_if<asked_request>(&left.happened)) refuse(*question, "the call has ended");
  }
}

asio::awaitable<void> stdio_exchange::waiter::something(async::interrupt& interrupt) {
  while (events_.empty() && !answer_ && !wrong_era_ && !interrupt.raised()) co_await async::wait(wake_, interrupt);
}

std::optional<stdio_exchange::event> stdio_exchange::waiter::next_event() {
  if (events_.empty()) return std::nullopt;
  std::optional<event> next(std::move(events_.front().happened));
  exchange_.undelivered_.fetch_sub(1, std::memory_order_relaxed);
  exchange_.undelivered_bytes_.fetch_sub(events_.front().bytes, std::memory_order_relaxed);
  events_.pop_front();
  return next;
}

}  // namespace switchgear::upstream
