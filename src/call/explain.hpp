// What a client is told of a call that its tool did not answer.
#pragma once

#include "call/attempt.hpp"
#include "call/directory.hpp"
#include "cascade/stand_in.hpp"

#include <optional>
#include <span>
#include <string>

namespace switchgear::call {

/// How the call stands. `primary` is the attempt at `called` itself.
struct standing {
  const tool& called;
  const cascade::machine& machine;
  const attempt& primary;
  time_point now;
  duration allowed;  ///< from the call's arrival to its deadline
  bool shutting_down = false;
  std::span<const std::string> details = {};  ///< step_context::details
};

/// The marker of an answer by `who`; a stored answer's age is for the caller to add.
cascade::marker mark(const standing& how, cascade::served_by who);

/// As Retry-After says it: whole seconds, rounded up, at least 1; 0 for nothing.
unsigned in_seconds(const std::optional<duration>& retry_after);

/// The text of a failure.
std::string explain(const standing& how);

/// What an upstream did, for people, in valid UTF-8 and bounded: HTTP status, JSON-RPC error, the upstream's own words.
std::string describe(const port::reply& reply);

}  // namespace switchgear::call
