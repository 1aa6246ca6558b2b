// The key `fallback`: what stands in for a tool, step by step.
#pragma once

#include "cascade/plan.hpp"
#include "config/schema.hpp"
#include "port/policy.hpp"

namespace switchgear::config {

/// A list of steps, each a mapping with the step's word as its only key.
key<port::tool_policy> fallback_key();

/// The keys of each sort of step.
const keys<cascade::cache_step>& cache_step_keys();
const keys<cascade::tool_step>& tool_step_keys();
const keys<cascade::fixed_step>& fixed_step_keys();
/// Of `result`, in a tool step and in an http step.
const keys<cascade::result_mapping>& result_keys();

/// The field of a rule's step, from 0; that of the whole fallback, or of the rule, where it was not written in the
/// rule.
field place_of_step(const field& rule, std::size_t number);

/// Reports steps that cannot do what they say. `pattern` is the pattern of the tools that have the plan, `at` the field
/// of the rule that it stands in.
void check_fallback(const field& at, std::string_view pattern, const port::tool_policy& policy);

}  // namespace switchgear::config
