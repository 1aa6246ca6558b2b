// R4: a server that refuses connections and answers nothing is down; its window need not fill up first.
#pragma once

#include "base/time.hpp"
#include "breaker/report.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace switchgear::breaker {

/// Trips on `needed` connect failures within `span` with no success among or after them. Fewer calls than that are
/// left to the other rules.
class connect_streak {
 public:
  static constexpr unsigned needed = 5;
  static constexpr duration span = std::chrono::seconds(2);

  bool add(const batch& more, time_point now) {
    std::uint64_t fresh = more.counts.connects;
    if (more.counts.calls > more.counts.failures) {
      clear();
      fresh = std::min(fresh, more.trailing);
    }
    for (std::uint64_t i = std::min<std::uint64_t>(fresh, needed); i > 0; --i) {
      at_[next_] = now;
      next_ = (next_ + 1) % needed;
      count_ = std::min(count_ + 1, needed);
    }
    return fresh > 0 && count_ == needed && now - at_[next_] <= span;
  }

  void clear() { count_ = 0; }

 private:
  std::array<time_point, needed> at_{};  // a ring; next_ is the oldest when it is full
  unsigned next_ = 0;
  unsigned count_ = 0;
};

}  // namespace switchgear::breaker
