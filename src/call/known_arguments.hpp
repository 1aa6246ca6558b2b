// Whether a template asks for arguments that a tool's callers cannot give.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace switchgear::call {

/// The arguments that `paths` (cascade/placeholder.hpp) lead through and that the tool's inputSchema does not have;
/// each once, sorted. `definition` is the tool's as listed. Says nothing of a schema that names no properties, or
/// composes them (`$ref`, `allOf` and the like).
std::vector<std::string> unknown_arguments(std::string_view definition, const std::vector<std::string>& paths);

}  // namespace switchgear::call
