// Time as values. No code below src/port reads a clock: callers pass `now` (docs/decisions/0002).
#pragma once

#include <chrono>

namespace switchgear {

using duration = std::chrono::nanoseconds;

/// A moment on the machine's monotone clock. The pure folders only add, subtract and compare it.
using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;

}  // namespace switchgear
