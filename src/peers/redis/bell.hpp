// How a coroutine that has nothing to do is told that it has.
#pragma once

#include "base/result.hpp"
#include "base/time.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace switchgear::peers::redis {

/// For one coroutine, which waits again and again. Control thread.
class bell {
 public:
  explicit bell(boost::asio::io_context& io) : timer_(io) {}

  /// Ends the wait under way; when there is none, the next one ends at once.
  void ring() {
    rung_ = true;
    timer_.cancel();
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
  boost::asio::steady_timer timer_;
  bool rung_ = false;
};

}  // namespace switchgear::peers::redis
