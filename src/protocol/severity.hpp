// The levels of log messages. Source: MCP server/utilities/logging, RFC 5424.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace switchgear::protocol {

/// Least first, as raw JSON strings.
inline constexpr std::array<std::string_view, 8> severities{R"("debug")",   R"("info")",     R"("notice")",
                                                            R"("warning")", R"("error")",    R"("critical")",
                                                            R"("alert")",   R"("emergency")"};

/// The place of a level (a raw JSON string without escapes) in the list; nothing if it is none.
constexpr std::optional<unsigned> severity_of(std::string_view token) {
  for (unsigned i = 0; i < severities.size(); ++i) {
    if (severities[i] == token) return i;
  }
  return std::nullopt;
}

/// Its name, without the quotes.
constexpr std::string_view severity_name(unsigned place) {
  const std::string_view token = severities[place];
  return token.substr(1, token.size() - 2);
}

}  // namespace switchgear::protocol
