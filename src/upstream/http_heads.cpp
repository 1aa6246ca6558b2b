#include "upstream/http_heads.hpp"

#include "base/version.hpp"
#include "http/fields.hpp"
#include "http/media_type.hpp"
#include "protocol/header_value.hpp"

#include <algorithm>

namespace switchgear::upstream {

namespace {

void add(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ").append(value).append("\r\n");
}

bool is_one_of(std::string_view name, const std::vector<std::string>& names) {
  return std::ranges::any_of(names, [&](const std::string& each) { return http::same_text(name, each); });
}

}  // namespace

std::string http_heads::write(std::string_view verb, std::string_view session, std::string_view version,
                              std::string_view target) const {
  std::string head(verb);
  head.append(" ").append(target.empty() ? address_.target : target).append(" HTTP/1.1\r\n");
  add(head, "Host", address_.authority);
  add(head, "User-Agent", "switchgear/" + std::string(switchgear::version));
  add(head, "Accept", verb == "GET" ? "text/event-stream" : "application/json, text/event-stream");
  add(head, "Accept-Encoding", "identity");
  if (verb != "GET") add(head, "Content-Type", "application/json");
  if (!session.empty()) add(head, "Mcp-Session-Id", session);
  if (!version.empty()) add(head, "MCP-Protocol-Version", version);
  for (const auto& [name, value] : own_) add(head, name, value);
  return head;
}

http_heads::fields without(const http_heads::fields& own, const std::vector<std::string>& names) {
  http_heads::fields left = own;
  std::erase_if(left, [&](const auto& one) { return is_one_of(one.first, names); });
  return left;
}

std::string lines_of(const http_heads::fields& own, const std::vector<std::string>& names) {
  std::string lines;
  for (const auto& [name, value] : own) {
    if (is_one_of(name, names)) add(lines, name, value);
  }
  return lines;
}

std::string forwarded_fields(std::string_view head, const std::vector<std::string>& names) {
  std::string fields;
  for (const std::string& name : names) {
    if (const auto value = http::field(head, name)) add(fields, name, *value);
  }
  return fields;
}

std::string mirrored_fields(std::string_view method, std::string_view target, std::string_view mirrored) {
  std::string fields;
  add(fields, "Mcp-Method", protocol::encode_header_value(method));
  if (!target.empty()) add(fields, "Mcp-Name", protocol::encode_header_value(target));
  return fields.append(mirrored);
}

std::string_view mirrored_target(const protocol::message& request, std::string_view target) {
  const bool by_name = request.method == "tools/call" || request.method == "prompts/get";
  if (!by_name && request.method != "resources/read") return {};
  if (!target.empty()) return target;
  return by_name ? request.name_text : request.uri_text;
}

}  // namespace switchgear::upstream
