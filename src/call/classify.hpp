// What a reply means: for the health of its tool and its server, and for the cascade. The table of outcomes of
// docs/architecture.md as a function.
#pragma once

#include "breaker/outcome.hpp"
#include "cascade/machine.hpp"
#include "port/policy.hpp"
#include "port/upstream.hpp"

#include <string_view>

namespace switchgear::call {

struct meaning {
  breaker::outcome tool, server;
  cascade::ending how = cascade::ending::failed;
  cascade::reason reason = cascade::reason::none;  ///< none if and only if `how` is answered or cancelled
};

/// `slow` is set here only where the kind of the reply says so (a deadline passed); that a call took too long otherwise
/// is for who timed it. `probe`: the tool's permit was a probe, for which isError means that the tool works.
/// No text of a tool is looked at, unless the policy names some (tool_policy::error_text).
meaning classify(const port::reply& reply, const port::tool_policy& policy, bool probe);

/// Whether one of the text blocks of `result` holds one of the policy's texts.
bool holds_error_text(std::string_view result, const port::tool_policy& policy);

}  // namespace switchgear::call
