// The sentences that a model reads: why a tool did not answer, and what it can do about it. English, plain, no markup.
#pragma once

#include "base/time.hpp"
#include "cascade/plan.hpp"
#include "cascade/stand_in.hpp"
#include "cascade/terms.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::cascade {

/// What there is to say of a call that nobody answered.
struct account {
  std::string_view noun = "tool";  ///< what `tool` is
  std::string_view tool;           ///< exported name
  std::string_view server;         ///< alias of its upstream

  /// What the breaker that refused was doing.
  enum class refusal : std::uint8_t { none, open, probing, operator_closed };
  refusal why_refused = refusal::none;
  bool server_scope = false;  ///< the server's breaker refused, not the tool's

  cascade::reason reason = cascade::reason::none;  ///< of the primary, never `exhausted`
  bool shutting_down = false;
  duration waited{};                           ///< until `timer` fired, or from the arrival of the call
  cascade::timer timer = timer::none;          ///< what ended the primary's last try
  unsigned tries = 1;                          ///< of the primary
  std::optional<duration> since, retry_after;  ///< as in marker
  bool outcome_unknown = false;
  std::string_view detail;         ///< what the upstream did, for people; may be empty
  const plan* fallback = nullptr;  ///< may be null
  trail steps;
  std::span<const std::string> step_details;   ///< why each step ended so, by its number; short, empty where none is
  std::vector<std::string_view> alternatives;  ///< exported names of tools that may do instead
};

/// What is down and why, since when, when to retry, what was tried, what else there is.
std::string failure_text(const account& what);

/// The short text block of a stand-in answer.
std::string note(std::string_view tool, const marker& what);

/// What an agent is told that makes the same call again and again: `words` is how its last error began, or empty.
std::string loop_text(std::string_view tool, unsigned failures, duration window, std::string_view words);

/// What a model is told that answers in the tool's place. `arguments` is JSON; empty: there are none.
std::string model_prompt(std::string_view tool, std::string_view description, std::string_view arguments);

/// "350 ms", "12 s", "3 min 5 s", "2 h 10 min": rounded up, since it is how long to wait.
std::string readable(duration length);

}  // namespace switchgear::cascade
