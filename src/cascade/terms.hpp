// The words with which an answer says where it came from and why (the `dev.switchgear/call` marker).
#pragma once

#include <cstdint>
#include <string_view>

namespace switchgear::cascade {

enum class served_by : std::uint8_t { primary, cache, tool, http, model, fixed, none };  // `fixed` is written "static"
inline constexpr unsigned served_by_count = 7;

/// Why the primary did not answer. `none` when it did.
enum class reason : std::uint8_t {
  none,
  open,            ///< the breaker refused
  timeout,         ///< the deadline passed
  unreachable,     ///< resolve, connect, TLS, start: nothing was sent
  upstream_error,  ///< it answered with a fault
  throttled,       ///< it answered 429, or 503 with Retry-After
  overloaded,      ///< our own limit
  exhausted,       ///< every step of the cascade failed
  denied,          ///< the caller may not; 401, 403
};
inline constexpr unsigned reason_count = 9;

/// Where a stored answer was looked for, and where it was found.
enum class stored_answer : std::uint8_t {
  unasked,  ///< nowhere: no step got so far, or the tool has none
  missing,  ///< wherever there is to look, and not found
  fresh,    ///< in this gateway's memory, before any call
  memory,   ///< in this gateway's memory
  shared,   ///< where replicas keep answers for each other
};
inline constexpr unsigned stored_answer_count = 5;

/// Which limit ended a try that took too long.
enum class timer : std::uint8_t {
  none,
  connect,     ///< the upstream's connect_timeout
  first_byte,  ///< the tool's timeouts
  idle,
  total,
  probe,     ///< the lease of a breaker's probe
  deadline,  ///< the call's
};

constexpr std::string_view name(timer which) {
  constexpr std::string_view names[] = {"none", "connect", "first_byte", "idle", "total", "probe", "deadline"};
  return names[static_cast<unsigned>(which)];
}

constexpr std::string_view name(stored_answer where) {
  constexpr std::string_view names[] = {"unasked", "missing", "fresh", "memory", "shared"};
  return names[static_cast<unsigned>(where)];
}

constexpr std::string_view name(served_by who) {
  constexpr std::string_view names[] = {"primary", "cache", "tool", "http", "model", "static", "none"};
  return names[static_cast<unsigned>(who)];
}

constexpr std::string_view name(reason why) {
  constexpr std::string_view names[] = {"none",      "open",       "timeout",   "unreachable", "upstream_error",
                                        "throttled", "overloaded", "exhausted", "denied"};
  return names[static_cast<unsigned>(why)];
}

}  // namespace switchgear::cascade
