// A modern request says some things twice: in its body, and in HTTP headers for whoever routes without reading it.
// Source: MCP 2026-07-28 basic `_meta`, basic/transports/streamable-http "Request Metadata", "Server Validation".
#pragma once

#include "protocol/message.hpp"
#include "protocol/version.hpp"

#include <string>
#include <string_view>

namespace switchgear::protocol {

/// Header values as they were received. An absent one has no data() (null).
struct mirrored_headers {
  std::string_view version;  ///< MCP-Protocol-Version
  std::string_view method;   ///< Mcp-Method
  std::string_view name;     ///< Mcp-Name
};

/// Whether the body says that it is of the modern era: its `_meta` names a revision, and not one of the legacy era.
inline bool says_modern(const message& seen) {
  return !seen.meta_version.empty() && !is_supported(seen.meta_version);
}

/// Empty if a modern request may be served, else the whole error response. In this order: what `_meta` must have
/// (-32602), headers that are missing, malformed or differ from the body (-32020), a revision that is not served
/// (-32022). `headers` is null where there are none to check (stdio).
std::string refuse_modern(std::string_view text, const message& seen, const mirrored_headers* headers);

}  // namespace switchgear::protocol
