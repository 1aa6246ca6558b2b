// Answers that are not the primary's: tools/call results, marked as what they are. Cold path: they allocate.
#pragma once

#include "base/result.hpp"
#include "base/time.hpp"
#include "cascade/machine.hpp"
#include "cascade/plan.hpp"
#include "cascade/terms.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace switchgear::cascade {

/// The member of `_meta` that says where an answer came from.
inline constexpr std::string_view marker_key = "dev.switchgear/call";

/// What the marker says. Unset members are left out of it.
struct marker {
  bool degraded = true;  ///< false: the tool was not called, and why not is nothing to say
  cascade::served_by served_by = cascade::served_by::none;
  cascade::reason reason = cascade::reason::none;
  cascade::timer timer = timer::none;   ///< what ended the primary's last try
  std::string_view state;               ///< of the breaker that decided: closed, open, half_open, ...
  std::optional<duration> age;          ///< of a stored answer
  std::optional<duration> retry_after;  ///< when the primary may be worth another call
  std::optional<duration> since;        ///< how long the breaker has not been closed; of failures
  bool outcome_unknown = false;         ///< the primary may have carried out the call
  unsigned repeated = 0;                ///< so often the same call has failed, so that it was not made
  trail steps;
};

/// As a JSON object, on one line.
std::string to_json(const marker& what);

/// A result that says this and nothing else.
std::string plain_result(const plain_answer& said);

/// The structuredContent of `result` (the JSON of a tools/call result); empty if there is none.
std::string structured_of(std::string_view result);

/// `result` (the JSON of a tools/call result) with the marker in its `_meta` and, unless `note` is empty, one more text
/// block at the end of its `content`. All other bytes stay as they are, so that no number changes its digits.
/// Errors: bad_result.
result<std::string> marked(std::string_view result, const marker& what, std::string_view note);

/// An isError result that says `text`, with the marker.
std::string failure_result(std::string_view text, const marker& what);

}  // namespace switchgear::cascade
