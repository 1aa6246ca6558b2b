// The keys of `tools.<pattern>`.
#pragma once

#include "config/gateway.hpp"
#include "config/schema.hpp"
#include "port/policy.hpp"

namespace switchgear::config {

const keys<port::timeouts>& timeout_keys();
const keys<cascade::retry_policy>& retry_keys();
const keys<cascade::hedge_policy>& hedge_keys();
const keys<cascade::loop_policy>& loop_keys();
const keys<port::tool_policy>& tool_keys();

/// The mapping of patterns to rules.
key<gateway> tools_key();

/// Checks what each rule comes to together with what it inherits; `at` is the field of `tools`.
void check_tools(const field& at, const gateway& made);

}  // namespace switchgear::config
