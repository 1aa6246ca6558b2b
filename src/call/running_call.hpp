// A permit while what it was given for runs.
#pragma once

#include "breaker/permit.hpp"
#include "call/classify.hpp"
#include "port/breakers.hpp"

namespace switchgear::call {

/// Must stay where it is once passed_limit may be called. A permit that is not settled comes back by itself.
struct running_call {
  breaker::permit permit;
  port::breakers& breakers;

  void kick() const {
    breakers.kick(permit.tool());
    breakers.kick(permit.server());
  }
  // A call counts as slow when it passes the limit: users who give up waiting must not hide how slow a tool is.
  static void passed_limit(void* self) {
    auto& call = *static_cast<running_call*>(self);
    if (call.permit.mark_slow()) call.kick();
  }
  void settle(const meaning& what, duration took) {
    if (permit.settle(what.tool, what.server, took)) kick();
  }
};

inline bool over(duration took, duration limit) {
  return limit > duration::zero() && took > limit;
}

}  // namespace switchgear::call
