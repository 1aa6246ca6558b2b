// The keys of the top level, and the checks that need the whole configuration.
#pragma once

#include "config/gateway.hpp"
#include "config/schema.hpp"

namespace switchgear::config {

/// In the order in which they are applied: what upstreams and tools start from comes before them.
const keys<gateway>& gateway_keys();

/// The keys of the nested mappings of the top level, for the documentation.
const keys<gateway>& limit_keys();
const keys<gateway>& session_keys();
const keys<gateway>& cache_keys();
const keys<port::redis_settings>& redis_keys();

/// Checks keys against each other. `root` is the whole document.
void check_gateway(const field& root, const gateway& made);

}  // namespace switchgear::config
