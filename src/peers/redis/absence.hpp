// When to stop asking somebody who does not answer, and when to try again.
#pragma once

#include "base/time.hpp"

#include <optional>

namespace switchgear::peers::redis {

/// A node, or one scope's keys on it, as this replica finds them. Two exchanges that are missed are made up for; with
/// the third this replica goes on alone, and tries with a real exchange at growing intervals. No clock, no dice:
/// `random` is in [0, 1), so that replicas that lost the same node do not come back in step.
class absence {
 public:
  static constexpr unsigned misses_allowed = 3;
  static constexpr duration first_retry = std::chrono::milliseconds(200);
  static constexpr duration last_retry = std::chrono::seconds(1);

  /// It is given up for now, and this replica decides alone.
  bool alone() const { return alone_; }
  bool may_try(time_point now) const { return !alone_ || now >= retry_at_; }

  /// It did not answer. True: with this one it is given up.
  bool missed(time_point now, double random);
  /// It will not answer in any sensible way, so that there is nothing to wait for. True: it was not given up before.
  bool refused(time_point now, double random);
  /// It has given a sign of life, so that the next exchange may be tried at once. It is given up until that is
  /// answered.
  void look_again() { retry_at_ = {}; }
  /// It answered. How long it was given up, if it was.
  std::optional<duration> found(time_point now);

 private:
  bool give_up(time_point now, double random);

  bool alone_ = false;
  unsigned misses_ = 0;
  time_point since_{};  // alone
  time_point retry_at_{};
  duration retry_after_{};
};

}  // namespace switchgear::peers::redis
