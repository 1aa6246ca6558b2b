// A clock reading made safe: time that never goes back and that a step of the clock cannot stop.
#pragma once

#include "base/time.hpp"

namespace switchgear::breaker {

/// advance(reading) gives the moment to use. Readings a little in the past, as two threads may produce them, count as
/// now. A reading far in the past means that the clock was set back: time goes on from it, without the jump. A jump
/// ahead is taken as time that has passed.
class monotone {
 public:
  static constexpr duration step = std::chrono::seconds(1);

  explicit monotone(time_point start) : reading_(start), now_(start) {}

  time_point advance(time_point reading) {
    if (reading > reading_) {
      now_ += reading - reading_;
      reading_ = reading;
    } else if (reading_ - reading > step) {
      reading_ = reading;
    }
    return now_;
  }

  time_point now() const { return now_; }

 private:
  time_point reading_;
  time_point now_;
};

}  // namespace switchgear::breaker
