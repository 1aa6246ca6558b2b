// How often the board is asked.
#pragma once

#include "base/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace switchgear::peers {

/// From the start of one exchange to the start of the next.
struct flush_interval {
  static constexpr duration usual_tick = std::chrono::milliseconds(100);
  static constexpr duration urgent = std::chrono::milliseconds(10);  // a storm of failures costs no more than this
  static constexpr duration longest = std::chrono::seconds(1);
  static constexpr std::size_t many = 200;  // scopes; with more of them each exchange is work for the board

  duration tick = usual_tick;  ///< when somebody has something to say
  duration kick = urgent;      ///< at least, when it is urgent

  /// `dirty`: scopes that had something to say the last time; `took`: how long that exchange was. A board that answers
  /// slowly is left alone for three quarters of the time, by the urgent, too: they would make it slower still.
  /// `usual`: the tick of a board that is quick.
  static constexpr flush_interval after(std::size_t dirty, duration took, duration usual = usual_tick) {
    const duration at_ease = std::min(took, longest / 4) * 4;
    flush_interval next;
    next.tick = std::max(usual, at_ease);
    if (at_ease > usual_tick) next.kick = at_ease;
    if (dirty > many) next.tick = longest;
    return next;
  }
};

}  // namespace switchgear::peers
