// One try of something that is no tool and has a breaker all the same: a REST endpoint, a model.
#pragma once

#include "async/chain.hpp"
#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "call/running_call.hpp"

#include <algorithm>
#include <utility>

namespace switchgear::call {

/// Begins when its permit was given. Lives in the frame of the coroutine that asks; ended or not, the permit is
/// settled.
class guarded_try {
 public:
  /// `whole` is the call's interrupt; the try has to end at `limit`, at the latest when a probe's lease does.
  guarded_try(async::worker& on, port::breakers& breakers, async::interrupt& whole, breaker::permit permit,
              time_point started, time_point limit)
      : running_{std::move(permit), breakers}, until_(on.timers), chained_(whole, until_), started_(started) {
    const duration slow_after = running_.permit.slow_after();
    until_.arm(std::min(limit, running_.permit.lease_deadline()),
               slow_after > duration::zero() ? started + slow_after : time_point::max(), &running_call::passed_limit,
               &running_);
  }

  /// What ends the wait.
  async::interrupt& until() { return until_; }

  /// Marks what is slow, and settles.
  void end(meaning what, time_point now) {
    const duration took = now - started_;
    what.tool.slow = what.tool.slow || over(took, running_.permit.slow_after());
    what.server.slow = what.server.slow || over(took, running_.permit.server().slow_after());
    running_.settle(what, took);
  }

 private:
  running_call running_;
  async::interrupt until_;
  async::chain chained_;
  time_point started_;
};

}  // namespace switchgear::call
