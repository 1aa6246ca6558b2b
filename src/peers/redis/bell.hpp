// How a coroutine that has nothing to do is told that it has.
#pragma once

#include "base/result.hpp"
#include "base/time.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>

namespace switchgear::peers::redis {

/// For one coroutine of the control thread, which waits again and again. Outlives the run of `io`.
class bell {
 public:
  explicit bell(boost::asio::io_context& io) : io_(io), timer_(io) {}

  /// Ends the wait under way; when there is none, the next one ends at once. Control thread.
  void ring() {
    rung_ = true;
    timer_.cancel();
  }
  /// The same, a moment later. Any thread. However often it is called, the loop has one handler for it at most.
  void call() {
    if (called_.exchange(true)) return;
    boost::asio::post(io_, [this] {
      called_ = false;  // first: whoever calls from now on calls again
      ring();
    });
  }
  boost::asio::awaitable<void> wait(time_point until) {
    if (!rung_) {
      error_code ignored;
      timer_.expires_at(until);
      co_await timer_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    }
    rung_ = false;
  }

 private:
  boost::asio::io_context& io_;
  boost::asio::steady_timer timer_;
  std::atomic<bool> called_ = false;
  bool rung_ = false;
};

}  // namespace switchgear::peers::redis
