// The levels of log messages. Source: MCP server/utilities/logging, RFC 5424.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace switchgear::protocol {

/// Least first.
inline constexpr std::array<std::string_view, 8> severities{"debug", "info",     "notice", "warning",
                                                            "error", "critical", "alert",  "emergency"};

/// The place of a level (a raw JSON string without escapes) in the list; nothing if it is none.
constexpr std::optional<unsigned> severity_of(std::string_view token) {
  if (token.size() < 2) return std::nullopt;
  token = token.substr(1, token.size() - 2);
  for (unsigned i = 0; i < severities.size(); ++i) {
    if (severities[i] == token) return i;
  }
  return std::nullopt;
}

}  // namespace switchgear::protocol
