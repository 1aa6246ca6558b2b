// The keys of a `http` step.
#pragma once

#include "cascade/plan.hpp"
#include "config/gateway.hpp"
#include "config/schema.hpp"

namespace switchgear::config {

const keys<cascade::http_step>& http_step_keys();

/// Reports what does not go together; `at` is the field of the step's mapping. False: the step cannot be used.
bool check_http_step(const field& at, const cascade::http_step& step);

/// Reports endpoints that have two different breakers; `at` is the field of `tools`.
void check_endpoints(const field& at, const gateway& made);

}  // namespace switchgear::config
