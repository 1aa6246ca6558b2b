// Fallbacks that lead back to the tool they began with, over the rules of several tools.
#pragma once

#include "config/field.hpp"
#include "config/gateway.hpp"

namespace switchgear::config {

/// Reports each step that closes a circle of exact names, with the way around. `at` is the field of `tools`. What a
/// pattern with `*` covers is not known before the servers list it.
void check_circles(const field& at, const gateway& made);

}  // namespace switchgear::config
