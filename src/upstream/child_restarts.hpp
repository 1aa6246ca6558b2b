// When a child may be started again: growing pauses, so that a crash loop costs little.
#pragma once

#include "base/time.hpp"

#include <array>
#include <cstddef>

namespace switchgear::upstream {

/// The pace of one upstream's starts. Has no clock and no chance of its own. After an end the next start is due in
/// 0.5 s, doubling up to 30 s, each shortened by up to a quarter so that many children do not start in step; the pause
/// is forgotten only after 60 s of steady service. Never more than ten starts in 60 s. Not thread-safe.
class child_restarts {
 public:
  static constexpr duration shortest_pause = std::chrono::milliseconds(500);
  static constexpr duration longest_pause = std::chrono::seconds(30);
  static constexpr duration steady = std::chrono::seconds(60);
  static constexpr duration demand_gap = std::chrono::seconds(5);
  static constexpr std::size_t most_starts = 10;   // in any 60 s
  static constexpr std::size_t demand_starts = 8;  // of them, the last ones are not for early starts

  /// The earliest moment of the next start.
  time_point due() const { return due_; }

  /// May a call that needs the child bring the start forward? At most every 5 s, and while starts are left.
  bool may_start_early(time_point now) const;

  void started(time_point now);

  /// The child ended, or could not be started. `was_ready_since`: since when it served, time_point::max() if it never
  /// did. `chance` is uniform in [0, 1).
  void ended(time_point now, time_point was_ready_since, double chance);

  /// Starts in a row that led to no steady service.
  unsigned failures() const { return failures_; }

 private:
  std::size_t starts_since(time_point moment) const;

  // A ring of the latest starts; the oldest is overwritten.
  std::array<time_point, most_starts> starts_{};
  std::size_t start_count_ = 0;
  unsigned failures_ = 0;
  time_point due_{};
};

}  // namespace switchgear::upstream
