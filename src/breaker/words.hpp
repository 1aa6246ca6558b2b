// The words of a breaker: its states, modes, the causes of a transition, and how they are written.
#pragma once

#include <cstdint>
#include <string_view>

namespace switchgear::breaker {

/// What a breaker watches. A call needs leave of both.
enum class scope : std::uint8_t {
  tool,    ///< one exported tool
  server,  ///< one upstream with all its tools
};

enum class state : std::uint8_t {
  closed,     ///< calls pass and are counted
  open,       ///< calls are refused until the cooldown is over
  half_open,  ///< a few probes pass and decide
};

enum class mode : std::uint8_t {
  enforce,   ///< refuses when open
  observe,   ///< counts and says when it would have tripped; admits everything
  disabled,  ///< admits everything and counts nothing
};

/// Why a breaker changed its state.
enum class cause : std::uint8_t {
  none,
  error_rate,     ///< R1: the window's error rate is over the limit
  outage,         ///< R2: the sequential rule; nearly everything fails
  p99,            ///< R3: too many calls took longer than the p99 limit
  unreachable,    ///< R4: connect failures and nothing else for two seconds
  cooldown_over,  ///< T2
  probes_passed,  ///< T3
  probes_failed,  ///< T4
  probe_lost,     ///< T4: a probe in use was not heard of again in time
  operator_open,
  operator_close,
  operator_observe,
  operator_auto,
  hold_over,  ///< the time that the operator gave has passed
  settings,   ///< new settings switched the mode
  joined,     ///< T7: what replicas and the shared store knew of each other was put together
};

/// What an operator may say.
enum class order : std::uint8_t {
  open,       ///< refuse everything, for the given time or until told otherwise
  close,      ///< close now; given a time, do not trip before it has passed
  observe,    ///< admit everything and go on counting, for the given time or until told otherwise
  automatic,  ///< written "auto": end the above; what was forced open goes to half_open
};

constexpr std::string_view name(scope which) {
  return which == scope::tool ? "tool" : "server";
}

constexpr std::string_view name(state which) {
  constexpr std::string_view names[] = {"closed", "open", "half_open"};
  return names[static_cast<unsigned>(which)];
}

constexpr std::string_view name(mode which) {
  constexpr std::string_view names[] = {"enforce", "observe", "disabled"};
  return names[static_cast<unsigned>(which)];
}

constexpr std::string_view name(order which) {
  constexpr std::string_view names[] = {"open", "close", "observe", "auto"};
  return names[static_cast<unsigned>(which)];
}

constexpr std::string_view name(cause why) {
  constexpr std::string_view names[] = {"none",          "error_rate",    "outage",         "p99",
                                        "unreachable",   "cooldown_over", "probes_passed",  "probes_failed",
                                        "probe_lost",    "operator_open", "operator_close", "operator_observe",
                                        "operator_auto", "hold_over",     "settings",       "joined"};
  return names[static_cast<unsigned>(why)];
}

}  // namespace switchgear::breaker
