// Random schedules: a minute of a fleet's bad life, from a seed.
#pragma once

#include "sim/fleet/event.hpp"

namespace switchgear::sim::fleet {

/// Everything that may go wrong, goes wrong now and then.
schedule troubled(std::uint64_t seed);
/// Nothing goes wrong but the upstream, which dies after `health`, and stays dead. Every gateway has `calls_a_second`.
schedule outage(std::uint64_t seed, unsigned gateways, micros health, micros length, double calls_a_second);

}  // namespace switchgear::sim::fleet
