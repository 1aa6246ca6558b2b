// When the same call is taken for one more round of an agent's loop. Plain values, filled by config.
#pragma once

#include "base/time.hpp"

#include <chrono>

namespace switchgear::cascade {

struct loop_policy {
  static constexpr unsigned most_failures = 20;

  unsigned failures = 0;                       ///< of the same call: no more of them are made; 0: all are
  duration window = std::chrono::seconds(60);  ///< in which they have to lie; > 0
};

}  // namespace switchgear::cascade
