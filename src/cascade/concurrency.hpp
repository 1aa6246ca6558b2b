// How many calls one target may have at once: what is configured for a tool or a server, and what follows from it.
#pragma once

#include "base/time.hpp"
#include "cascade/machine.hpp"

#include <algorithm>
#include <optional>

namespace switchgear::cascade {

struct concurrency_policy {
  static constexpr unsigned highest = 100'000;
  static constexpr unsigned adaptive_start = 20;  ///< where the search for a limit begins, if that is in its bounds

  std::optional<unsigned> limit = 0;  ///< most calls at once; 0: any number; unset: adaptive, found from their latency
  unsigned least = 4;                 ///< bounds of an adaptive limit; 1 <= least <= most
  unsigned most = 1000;
  std::optional<unsigned> queue;                            ///< most calls that wait; unset: a quarter of the limit
  duration queue_timeout = std::chrono::milliseconds(100);  ///< longest wait; > 0
  double principal_share = 1;  ///< of the limit, that one principal may hold; > 0; 1: all of it, nobody is counted

  bool limits() const { return limit != 0U; }
  bool adaptive() const { return !limit; }
  unsigned first_limit() const { return limit ? *limit : std::clamp(adaptive_start, least, most); }

  /// Most waiting calls at a limit of `now`.
  unsigned queue_at(unsigned now) const { return queue.value_or(std::max(1U, now / 4)); }
  /// Most calls of one principal, waiting ones included, at a limit of `now`: at least one.
  unsigned share_at(unsigned now) const {
    return std::max(1U, static_cast<unsigned>(principal_share * static_cast<double>(now)));
  }
};

/// How long a call may wait for its turn, so that there is still time to be answered in: `left` until its deadline, of
/// which the target usually takes `typical` (zero: not known yet). Not positive: it could not be answered in time, and
/// the place in the queue is somebody else's.
inline duration longest_wait(const concurrency_policy& policy, duration left, duration typical) {
  return std::min(policy.queue_timeout, left - std::max<duration>(typical, machine::minimum_left));
}

}  // namespace switchgear::cascade
