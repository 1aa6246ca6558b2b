// The keys of a breaker, wherever one is described: `breaker`, `upstreams.<alias>.breaker`, `tools.<pattern>.breaker`.
#pragma once

#include "breaker/settings.hpp"
#include "config/schema.hpp"

namespace switchgear::config {

const keys<breaker::settings>& breaker_keys();

/// Checks the knobs against each other and reports to the key at fault below `at`, the field of the breaker (or of
/// whatever it inherits from). Warns of values that may be meant and are seldom wise.
void check_breaker(const field& at, const breaker::settings& made);

}  // namespace switchgear::config
