#include "protocol/mirrored.hpp"

#include "protocol/errors.hpp"
#include "protocol/header_value.hpp"
#include "protocol/text.hpp"
#include "protocol/version.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace switchgear::protocol {

namespace {

std::string mismatch(std::string_view id, std::string_view header, std::string_view why) {
  std::string message = "Header mismatch: ";
  return write_error(id, code::header_mismatch, message.append(header).append(" ").append(why));
}

// What a request names, and must name in Mcp-Name as well; null for requests that name nothing.
const std::string_view* named_by(const message& seen) {
  if (seen.method == "tools/call" || seen.method == "prompts/get") return &seen.name_text;
  return seen.method == "resources/read" ? &seen.uri_text : nullptr;
}

// RFC 9110 lets a field carry other bytes, MCP does not: what they mean is anybody's guess.
bool is_plain(std::string_view value) {
  return std::ranges::all_of(value, [](char c) { return (c >= ' ' && c <= '~') || c == '\t'; });
}

// The header of a name that the body does not have must not be there either: somebody has routed by it.
std::string check_name(std::string_view id, std::string_view header, std::string_view in_body) {
  if (header.data() == nullptr) return in_body.empty() ? std::string() : mismatch(id, "Mcp-Name", "is missing");
  const auto said = is_plain(header) ? decode_header_value(header) : std::nullopt;
  if (!said) return mismatch(id, "Mcp-Name", "is malformed");
  return *said == in_body ? std::string() : mismatch(id, "Mcp-Name", "differs from the body");
}

std::string check_headers(std::string_view id, const message& seen, const mirrored_headers& headers) {
  if (headers.version.data() == nullptr) return mismatch(id, "MCP-Protocol-Version", "is missing");
  if (headers.version != seen.meta_version) return mismatch(id, "MCP-Protocol-Version", "differs from the body");
  if (headers.method.data() == nullptr) return mismatch(id, "Mcp-Method", "is missing");
  if (headers.method != seen.method) return mismatch(id, "Mcp-Method", "differs from the body");
  const std::string_view* name = named_by(seen);
  return name != nullptr ? check_name(id, headers.name, *name) : std::string();
}

}  // namespace

std::string refuse_modern(std::string_view text, const message& seen, const mirrored_headers* headers) {
  const std::string_view id = seen.id ? seen.id.in(text) : no_id;
  if (seen.meta_version.empty()) {
    return write_error(id, code::invalid_params, "params._meta lacks io.modelcontextprotocol/protocolVersion");
  }
  if (!seen.meta_capabilities.in(text).starts_with('{')) {
    return write_error(id, code::invalid_params, "params._meta lacks io.modelcontextprotocol/clientCapabilities");
  }
  if (headers != nullptr) {
    if (std::string wrong = check_headers(id, seen, *headers); !wrong.empty()) return wrong;
  }
  if (seen.meta_version != modern_version) return write_unsupported_version(id, seen.meta_version);
  return {};
}

}  // namespace switchgear::protocol
