// The shortest schedule that still breaks the same promise.
#pragma once

#include "sim/fleet/event.hpp"

#include <functional>

namespace switchgear::sim::fleet {

/// Takes events away for as long as `fails` says that it still fails: all of a kind, all of a gateway, then halves,
/// quarters and so on down to single ones, until none can go or `budget` of real time is used up.
schedule shortest(schedule failing, const std::function<bool(const schedule&)>& fails, std::chrono::seconds budget);

}  // namespace switchgear::sim::fleet
