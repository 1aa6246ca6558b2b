// An mcp.json as desktop clients and IDEs write it: {"mcpServers": {name: {command, args, env} or {url, headers}}}.
#pragma once

#include "config/field.hpp"
#include "config/gateway.hpp"

namespace switchgear::config {

/// Whether the document is one: a mapping with the key `mcpServers`.
bool is_mcp_json(const node& root);

/// Adds its servers to the gateway, in the order of the file. Servers that are disabled there are left out. What only a
/// client has use for is tolerated with a warning.
void read_mcp_json(const field& root, gateway& into);

/// A valid alias for any name: the same for the same name, and as much of it as can be kept.
std::string alias_for(std::string_view name);

}  // namespace switchgear::config
