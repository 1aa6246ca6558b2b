#include "protocol/results.hpp"

#include "protocol/text.hpp"
#include "protocol/version.hpp"

namespace switchgear::protocol {

namespace {

constexpr std::string_view before_id = R"({"jsonrpc":"2.0","id":)";
constexpr std::string_view before_result = R"(,"result":)";
constexpr std::string_view after_result = "}";

void append_identity(std::string& out, const server_identity& server) {
  out += R"({"name":)";
  append_quoted(out, server.name);
  if (!server.title.empty()) {
    out += R"(,"title":)";
    append_quoted(out, server.title);
  }
  out += R"(,"version":)";
  append_quoted(out, server.version);
  out += '}';
}

void append_instructions(std::string& out, std::string_view instructions) {
  if (instructions.empty()) return;
  out += R"(,"instructions":)";
  append_quoted(out, instructions);
}

}  // namespace

std::string write_result(std::string_view id, std::string_view result) {
  parts pieces;
  write_result(id, result, pieces);
  return joined(pieces);
}

void write_result(std::string_view id, std::string_view result, parts& out) {
  for (std::string_view piece : {before_id, id, before_result, result, after_result}) out.push_back(piece);
}

std::string initialize_result(std::string_view protocol_version, const self_description& self) {
  std::string out = R"({"protocolVersion":)";
  append_quoted(out, protocol_version);
  out.append(R"(,"capabilities":)").append(self.capabilities).append(R"(,"serverInfo":)");
  append_identity(out, self.server);
  append_instructions(out, self.instructions);
  out += '}';
  return out;
}

std::string discover_result(const self_description& self) {
  std::string out = R"({"resultType":"complete","supportedVersions":[)";
  for (std::string_view version : served_versions) {
    append_quoted(out, version);
    out += ',';
  }
  out.back() = ']';
  out.append(R"(,"capabilities":)").append(self.capabilities);
  append_instructions(out, self.instructions);
  // What is offered changes with the upstreams, and there is no notification that says so for capabilities.
  out += R"(,"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":)";
  append_identity(out, self.server);
  out += "}}";
  return out;
}

std::string listen_result(std::string_view id) {
  return std::string(R"({"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":)")
      .append(id)
      .append("}}");
}

std::string tools_list_result(std::string_view definitions) {
  return std::string(R"({"tools":)").append(definitions).append("}");
}

}  // namespace switchgear::protocol
