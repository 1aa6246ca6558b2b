// What a server offers, by kinds. Source: MCP 2025-11-25 and 2026-07-28 schema ServerCapabilities.
#pragma once

#include <string>
#include <string_view>

namespace switchgear::protocol {

struct server_abilities {
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  bool subscribe = false;  ///< it tells of changes of single resources
  bool completions = false;
  bool logging = false;

  bool operator==(const server_abilities&) const = default;
};

/// Reads a server's `capabilities` object. What is not understood is not there; text that is no object is an empty one.
server_abilities read_server_abilities(std::string_view capabilities);

/// The `capabilities` object of a server with these abilities that also tells when any of its lists changes.
std::string write_server_abilities(const server_abilities& abilities);

}  // namespace switchgear::protocol
