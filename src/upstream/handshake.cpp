#include "upstream/handshake.hpp"

#include "base/version.hpp"
#include "protocol/text.hpp"
#include "protocol/version.hpp"
#include "upstream/printable.hpp"

#include <boost/json.hpp>

namespace switchgear::upstream {

std::string initialize_request(std::uint64_t id) {
  return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"initialize","params":{"protocolVersion":)" +
         protocol::quoted(protocol::newest_version) +
         R"(,"capabilities":{},"clientInfo":{"name":"switchgear","version":")" + std::string(version) + R"("}}})";
}

std::string tools_list_request(std::uint64_t id, std::string_view cursor) {
  std::string text = R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"tools/list")";
  if (!cursor.empty()) text.append(R"(,"params":{"cursor":)").append(cursor).append("}");
  return text + "}";
}

std::string cancelled_notification(std::uint64_t id, std::string_view reason) {
  return R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + std::to_string(id) +
         R"(,"reason":)" + protocol::quoted(reason) + "}}";
}

bool read_hello(std::string_view result, server_hello& out, std::string& why) {
  boost::json::error_code error;
  const boost::json::value value = boost::json::parse(result, error);
  const boost::json::object* members = error ? nullptr : value.if_object();
  const boost::json::value* version = members ? members->if_contains("protocolVersion") : nullptr;
  if (version == nullptr || !version->is_string()) {
    why = "its answer to initialize has no protocolVersion";
    return false;
  }
  out.protocol_version = version->as_string();
  if (!protocol::is_supported(out.protocol_version)) {
    why = "it speaks MCP revision " + printable(out.protocol_version, 40) + ", and we speak up to " +
          std::string(protocol::newest_version);
    return false;
  }
  if (const boost::json::value* info = members->if_contains("serverInfo"); info && info->is_object()) {
    if (const boost::json::value* name = info->get_object().if_contains("name"); name && name->is_string()) {
      out.server_name = printable(name->get_string(), 100);
    }
  }
  return true;
}

}  // namespace switchgear::upstream
