// The rules R1 to R3 as the settings state them; for whoever judges a scope's counts, and whoever shows the limits.
#pragma once

#include "breaker/binomial.hpp"
#include "breaker/sequential.hpp"
#include "breaker/settings.hpp"

#include <optional>

namespace switchgear::breaker {

inline constexpr double p99_share = 0.01;  ///< "p99 over the limit" is "more than 1 % of calls took longer"

/// How sure a single look must be, so that `certainty` holds over a whole window.
std::optional<double> certainty_of_one_look(const settings& values);

share_test error_test(const settings& values);
share_test slow_test(const settings& values);
sequential outage_rule(const settings& values);

}  // namespace switchgear::breaker
