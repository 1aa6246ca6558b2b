// The p99 that people are shown: of about the last window, from counters that only ever grow.
#pragma once

#include "base/time.hpp"
#include "breaker/latency.hpp"

#include <array>

namespace switchgear::peers {

/// Keeps the counters as they stood at the last few sixths of the window; the difference to now is what is recent.
class recent_latency {
 public:
  /// Tells how the counters stand. Call it some times a second, or whenever anything was counted.
  void observe(const breaker::latency_counts& counters, duration window, time_point now);

  /// Length that 99 % of the recent calls stayed under; zero without calls.
  duration p99() const;

 private:
  static constexpr unsigned parts = 6;
  std::array<breaker::latency_counts, parts> past_{};  // a ring; next_ is the oldest
  breaker::latency_counts now_{};
  unsigned next_ = 0;
  time_point due_{};
};

}  // namespace switchgear::peers
