// What a call holds of the concurrency limits: a slot of its tool's, then one of its server's.
#pragma once

#include "call/attempt.hpp"
#include "call/limiter.hpp"

#include <boost/asio/awaitable.hpp>

namespace switchgear::call {

/// In this order, so that who waits for a busy tool keeps nothing of its server from other tools. Back on every way
/// out.
class slots {
 public:
  /// Both, if they are free now.
  bool take(const attempt_context& given);
  /// Both, whatever the limits say: for a probe.
  void force(const tool& target);
  /// What take() did not get, waiting for it; the upstream's time begins anew then. False: `done` says why not.
  boost::asio::awaitable<bool> wait(attempt_context& given, attempt& done);
  /// What the limits learn from the attempt.
  void tell(const attempt& done);

 private:
  boost::asio::awaitable<bool> wait_for(limiter* limit, slot& into, attempt_context& given, attempt& done);

  slot tool_;
  slot server_;
};

}  // namespace switchgear::call
