// How often something that fails is tried again.
#pragma once

#include "base/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>

namespace switchgear::peers::redis {

/// Chance for the pauses, so that replicas that lost the same Redis do not come back in step.
class spread {
 public:
  explicit spread(std::uint64_t seed) : random_(seed) {}
  /// Half of `most` to all of it.
  duration about(duration most) {
    return duration(static_cast<duration::rep>(static_cast<double>(most.count()) * share_(random_)));
  }

 private:
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> share_{0.5, 1};
};

/// When one connection may be tried next. Also a good one that breaks at once is not tried without end: only what it
/// has achieved makes the pauses short again.
class pace {
 public:
  static constexpr duration first = std::chrono::milliseconds(100);
  static constexpr duration longest = std::chrono::seconds(1);
  static constexpr duration after_end = std::chrono::milliseconds(20);

  bool due(time_point now) const { return now >= next_; }
  time_point next() const { return next_; }

  void tried(time_point now, spread& chance) {
    next_ = now + chance.about(pause_);
    pause_ = std::min(pause_ * 2, longest);
  }
  void ended(time_point now, spread& chance) { next_ = std::max(next_, now + chance.about(after_end)); }
  void achieved() { pause_ = first; }

 private:
  time_point next_{};
  duration pause_ = first;
};

}  // namespace switchgear::peers::redis
