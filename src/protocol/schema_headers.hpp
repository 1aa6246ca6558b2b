// Arguments of a tool that clients repeat in HTTP headers, so that who routes need not read the body.
// Source: MCP 2026-07-28 basic/transports/streamable-http "Custom Headers from Tool Parameters", server/tools
// "x-mcp-header".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::protocol {

/// One argument and its header.
struct mirrored_argument {
  std::string header;             ///< field name, "Mcp-Param-" included
  std::vector<std::string> path;  ///< member names from `arguments` down to the value
};

struct schema_headers {
  std::vector<mirrored_argument> arguments;  ///< in the schema's order; none if there is a problem
  std::string problem;                       ///< why clients over HTTP must not use the tool; empty: they may
};

inline constexpr std::size_t most_mirrored = 64;

/// What an inputSchema says with `x-mcp-header`. That may stand only at strings, integers and booleans which are
/// reached through nothing but `properties`; each header name is an RFC 9110 token and unique, whatever its case. A
/// tool with one that is not so may not be used, nor one with more than `most_mirrored`. One pass over the text.
schema_headers read_schema_headers(std::string_view input_schema);

}  // namespace switchgear::protocol
