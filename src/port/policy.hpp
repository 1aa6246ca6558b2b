// Plain settings of one tool's calls, filled by config. Every field has a key in docs/configuration.md.
#pragma once

#include "base/time.hpp"
#include "breaker/settings.hpp"
#include "cascade/concurrency.hpp"
#include "cascade/hedge.hpp"
#include "cascade/loop_policy.hpp"
#include "cascade/plan.hpp"
#include "cascade/retry.hpp"

#include <optional>
#include <string>
#include <vector>

namespace switchgear::port {

/// How long one try of a tool may take, in phases; what its upstream allows for connecting comes besides. Zero: no
/// limit but the deadline. Source: RC-002.
struct timeouts {
  duration first_byte{};         ///< until anything comes back
  duration idle{};               ///< between later signs of life: pieces of the answer, and progress
  duration total{};              ///< of the whole try, whatever comes
  bool progress_extends = true;  ///< progress counts as a sign of life
};

struct tool_policy {
  duration deadline =
      std::chrono::seconds(30);  ///< from the arrival of the call to its answer, all steps together; > 0

  /// How long a client may take to answer what a server asks of it (sampling, elicitation, roots); the deadline's clock
  /// stands still meanwhile. > 0
  duration patience = std::chrono::minutes(5);

  /// The operator's word on whether the tool only reads. Unset: the server's own hint decides. It rules what may happen
  /// once an upstream may know of a call, and what may be kept as a stored answer.
  std::optional<bool> read_only;

  breaker::settings breaker;  ///< of the tool's scope, with the policy for isError

  /// An isError result whose text holds one of these counts as the tool's failure, whatever the isError policy says.
  /// Compared as bytes with the text blocks of the result. The caller still gets the result unchanged.
  std::vector<std::string> error_text;

  timeouts timeout;             ///< of each of its tries
  cascade::hedge_policy hedge;  ///< of the tool itself, if it reads
  cascade::retry_policy retry;  ///< of the tool itself, as a primary and as somebody's step

  /// The argument by which the tool knows a repeated call; a call without it gets one, and may then be made again
  /// whatever the tool does. Empty: what the tool says itself (protocol::tool_hints).
  std::string idempotency_key;

  cascade::loop_policy loop;  ///< when the same failing call of one agent is not made again

  cascade::concurrency_policy concurrency;  ///< of the tool's calls, whoever makes them

  breaker::settings step_breaker;  ///< what the breakers of endpoints start from, and those of their hosts have
  cascade::plan fallback;          ///< what stands in when the tool does not answer; empty: nothing

  /// A stand-in answer carries one short text block that says so, since some clients drop `_meta`.
  bool note = true;
};

}  // namespace switchgear::port
