// A call's arguments in its HTTP headers: written for a server that wants them there, compared for a client that sent
// them. Source: MCP 2026-07-28 basic/transports/streamable-http "Custom Headers from Tool Parameters", "Server
// Validation".
#pragma once

#include "protocol/schema_headers.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::protocol {

/// The header lines ("Mcp-Param-Region: us-west1\r\n" and so on) of a call with these arguments (JSON; may be empty).
/// Left out is what a header cannot say: an argument that is absent, null, an object or an array, a fraction, and an
/// integer beyond +-(2^53 - 1), on which readers disagree.
std::string mirrored_lines(const std::vector<mirrored_argument>& mirrored, std::string_view arguments);

/// The raw value of a request's header field, by name in any case; nothing if it is not there.
using field_lookup = std::function<std::optional<std::string_view>(std::string_view name)>;

/// What differs between a request's headers and its arguments, in one line; empty: nothing. Integers are compared as
/// numbers, anything else as text. An argument that is absent or null must have no header.
std::string mirrored_difference(const std::vector<mirrored_argument>& mirrored, std::string_view arguments,
                                const field_lookup& field);

}  // namespace switchgear::protocol
