// Whether a try that failed is made again, and when.
// Source: RC-067, RC-068, RC-070; full jitter after "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015); the
// budget after "Handling Overload" (Site Reliability Engineering, chapter 21).
#pragma once

#include "base/time.hpp"
#include "cascade/machine.hpp"

#include <atomic>
#include <cstdint>
#include <optional>

namespace switchgear::cascade {

/// How one target may be tried more than once in a call.
struct retry_policy {
  static constexpr unsigned most_attempts = 5;

  unsigned attempts = 1;  ///< tries of a target in one call, the first included; 1: none is made again
  /// The pause before the second try is a random part of this, before the third of twice as much, and so on. > 0
  duration backoff = std::chrono::milliseconds(50);
  duration longest_pause = std::chrono::seconds(1);  ///< at which the doubling ends; >= backoff
};

/// What is known of a try that has ended.
struct finished_try {
  ending how = ending::failed;
  bool sent = false;        ///< a byte may have reached the target
  bool repeatable = false;  ///< the tool is read-only or idempotent: a second call does no harm
  /// The target says itself that it did nothing with the call (HTTP 429): it may be made again whatever the tool does.
  bool declined = false;
  std::optional<duration> retry_after;  ///< as the target wrote it; any value
};

/// Longer times than this in a Retry-After are not believed.
inline constexpr duration longest_retry_after = std::chrono::minutes(5);

/// How long to wait before the next try of the same target; nothing when there shall be none. `made`: tries so far, at
/// least 1. `left`: until the call's deadline. `chance`: even in [0, 1). A pause that would leave a try less than
/// machine::minimum_left is not begun.
std::optional<duration> pause_before_retry(const retry_policy& policy, unsigned made, const finished_try& last,
                                           duration left, double chance);

/// What bounds the retries of all calls to one upstream: each call brings a share of a retry, each retry takes a whole
/// one. The first few are lent, and paid back before anything is saved: at no time are there more retries than those or
/// than the share of all calls so far, whichever is more. Since shares add up, replicas that each keep to their own
/// budget keep to the fleet's. Any thread; one atomic operation a call.
class retry_budget {
 public:
  /// Retries that may be saved up, and that are lent at the beginning.
  static constexpr unsigned reserve = 10;

  /// `share`: retries a call, 0 to 1.
  explicit retry_budget(double share)
      : share_(static_cast<std::int32_t>(share * whole)),
        left_(share_ == 0 ? 0 : reserve * whole),
        lent_(share_ == 0 ? 0 : reserve * whole) {}

  /// A call (not a retry) was made.
  void call() noexcept;
  /// True if a retry may be made; it has been paid for then.
  bool take() noexcept;

 private:
  static constexpr std::int32_t whole = 1000;

  const std::int32_t share_;
  std::atomic<std::int32_t> left_;  // in thousandths of a retry
  std::atomic<std::int32_t> lent_;  // and not yet paid back
};

}  // namespace switchgear::cascade
