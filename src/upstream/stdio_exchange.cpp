#include "upstream/stdio_exchange.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace switchgear::upstream {

namespace asio = boost::asio;

bool stdio_exchange::begin() {
  stage expected = stage::queued;
  return stage_.compare_exchange_strong(expected, stage::sent, std::memory_order_acq_rel);
}

bool stdio_exchange::withdraw() {
  stage expected = stage::queued;
  return stage_.compare_exchange_strong(expected, stage::withdrawn, std::memory_order_acq_rel);
}

void stdio_exchange::progressed(stdio_message notification) {
  if (undelivered_.fetch_add(1, std::memory_order_relaxed) >= most_undelivered) {
    undelivered_.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  asio::post(on_.io, [self = shared_from_this(), notification = std::move(notification)]() mutable {
    if (self->waiter_ == nullptr) return;
    self->waiter_->progress_.push_back(std::move(notification));
    self->waiter_->saw_progress_ = true;
    self->waiter_->wake_.cancel();
  });
}

void stdio_exchange::answered(stdio_message response) {
  port::reply reply;
  reply.sent = true;
  reply.head_seen = true;
  reply.body = std::move(response.text);
  reply.message = response.seen;
  reply.has_message = true;
  deliver(std::move(reply));
}

void stdio_exchange::failed(port::fault why, std::string_view detail, bool sent) {
  port::reply reply;
  reply.fault = why;
  reply.sent = sent;
  reply.detail = detail;
  deliver(std::move(reply));
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

void stdio_exchange::waiter::stop(void* self) {
  static_cast<waiter*>(self)->wake_.cancel();
}

asio::awaitable<void> stdio_exchange::waiter::something(async::interrupt& interrupt) {
  const async::interrupt::guard guard(interrupt, &waiter::stop, this);
  while (progress_.empty() && !answer_ && !interrupt.raised()) {
    co_await wake_.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

std::optional<stdio_message> stdio_exchange::waiter::next_progress() {
  if (progress_.empty()) return std::nullopt;
  std::optional<stdio_message> next(std::move(progress_.front()));
  progress_.pop_front();
  exchange_.undelivered_.fetch_sub(1, std::memory_order_relaxed);
  return next;
}

}  // namespace switchgear::upstream
