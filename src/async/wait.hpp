// Waiting for a timer that others may cancel, within what is left of a call.
#pragma once

#include "async/interrupt.hpp"
#include "base/result.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace switchgear::async {

/// Completes when the timer expires or is cancelled, or when `until` is raised; at once if it has been. Both must live
/// until then.
inline boost::asio::awaitable<void> wait(boost::asio::steady_timer& timer, interrupt& until) {
  const interrupt::guard guard(
      until, [](void* waiting) { static_cast<boost::asio::steady_timer*>(waiting)->cancel(); }, &timer);
  error_code ignored;
  if (!until.raised()) {
    co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
  }
}

}  // namespace switchgear::async
