#include "protocol/results.hpp"

#include "protocol/text.hpp"

namespace switchgear::protocol {

namespace {

constexpr std::string_view before_id = R"({"jsonrpc":"2.0","id":)";
constexpr std::string_view before_result = R"(,"result":)";
constexpr std::string_view after_result = "}";

}  // namespace

std::string write_result(std::string_view id, std::string_view result) {
  parts pieces;
  write_result(id, result, pieces);
  return joined(pieces);
}

void write_result(std::string_view id, std::string_view result, parts& out) {
  for (std::string_view piece : {before_id, id, before_result, result, after_result}) out.push_back(piece);
}

std::string initialize_result(std::string_view protocol_version, const server_identity& server,
                              std::string_view instructions) {
  std::string out = R"({"protocolVersion":)";
  append_quoted(out, protocol_version);
  out += R"(,"capabilities":{"tools":{"listChanged":false}},"serverInfo":{"name":)";
  append_quoted(out, server.name);
  if (!server.title.empty()) {
    out += R"(,"title":)";
    append_quoted(out, server.title);
  }
  out += R"(,"version":)";
  append_quoted(out, server.version);
  out += '}';
  if (!instructions.empty()) {
    out += R"(,"instructions":)";
    append_quoted(out, instructions);
  }
  out += '}';
  return out;
}

std::string tools_list_result(std::string_view definitions) {
  return std::string(R"({"tools":)").append(definitions).append("}");
}

}  // namespace switchgear::protocol
