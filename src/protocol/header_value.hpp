// Text in an HTTP header that mirrors the body (Mcp-Name, Mcp-Param-*): as it is, or wrapped in base64.
// Source: MCP 2026-07-28 basic/transports/streamable-http "Value Encoding"; RFC 9110 section 5.5.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace switchgear::protocol {

/// A field value that says `text`: `text` itself where a header carries it unharmed, else `=?base64?...?=` around its
/// bytes. Wrapped are: an empty text, blanks at either end, anything but printable ASCII and tabs, and what looks like
/// a wrapped one.
std::string encode_header_value(std::string_view text);

/// What a field value says, without the blanks around it. Nothing if it is wrapped and what is inside is no base64.
std::optional<std::string> decode_header_value(std::string_view value);

}  // namespace switchgear::protocol
