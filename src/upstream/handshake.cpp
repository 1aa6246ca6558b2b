#include "upstream/handshake.hpp"

#include "base/version.hpp"
#include "protocol/errors.hpp"
#include "protocol/scan.hpp"
#include "protocol/text.hpp"
#include "upstream/printable.hpp"

#include <algorithm>

namespace switchgear::upstream {

namespace {

constexpr std::size_t longest_instructions = 64 * 1024;

std::string our_name() {
  return R"({"name":"switchgear","version":)" + protocol::quoted(version) + "}";
}

// What every modern request says of its sender. In our own name a server may ask nothing.
std::string modern_meta() {
  return R"("_meta":{"io.modelcontextprotocol/protocolVersion":)" + protocol::quoted(protocol::modern_version) +
         R"(,"io.modelcontextprotocol/clientInfo":)" + our_name() +
         R"(,"io.modelcontextprotocol/clientCapabilities":{}})";
}

// The raw value of a member, empty if it is not there. `object` is JSON that somebody has checked, or nothing is found.
std::string_view member(std::string_view object, std::string_view wanted) {
  protocol::token_index index;
  protocol::scanner in(object, index);
  std::string space;
  if (!in.ok() || in.next() != '{') return {};
  for (bool more = in.open('{'); more; more = in.another('}')) {
    std::string_view raw, key, value;
    if (!in.key(raw) || !protocol::text_of(raw, space, key)) return {};
    const bool found = key == wanted;
    if (!in.skip(value)) return {};
    if (found) return value;
  }
  return {};
}

std::string text_member(std::string_view object, std::string_view wanted) {
  const std::string_view raw = member(object, wanted);
  if (!raw.starts_with('"')) return {};
  auto text = protocol::unquoted(raw);
  return text ? *std::move(text) : std::string();
}

// The strings of an array.
std::vector<std::string> texts_of(std::string_view array) {
  std::vector<std::string> texts;
  protocol::token_index index;
  protocol::scanner in(array, index);
  if (!in.ok() || in.next() != '[') return texts;
  for (bool more = in.open('['); more; more = in.another(']')) {
    std::string_view raw;
    if (!in.skip(raw)) break;
    if (!raw.starts_with('"')) continue;
    if (auto text = protocol::unquoted(raw)) texts.push_back(*std::move(text));
  }
  return texts;
}

bool names_modern(std::string_view array) {
  const std::vector<std::string> texts = texts_of(array);
  return std::ranges::find(texts, protocol::modern_version) != texts.end();
}

void read_offer(std::string_view result, server_hello& out) {
  const std::string_view capabilities = member(result, "capabilities");
  out.capabilities = capabilities.starts_with('{') ? capabilities : std::string_view("{}");
  out.abilities = protocol::read_server_abilities(out.capabilities);
  out.instructions = protocol::head(text_member(result, "instructions"), longest_instructions);
}

}  // namespace

std::string plain_request(std::uint64_t id, protocol::era era, std::string_view method, std::string_view params) {
  std::string text = R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":)" + protocol::quoted(method);
  std::string members(params);
  if (era == protocol::era::modern) members += (members.empty() ? "" : ",") + modern_meta();
  if (!members.empty()) text.append(R"(,"params":{)").append(members).append("}");
  return text + "}";
}

std::string initialize_request(std::uint64_t id, const protocol::client_abilities& abilities) {
  return plain_request(id, protocol::era::legacy, "initialize",
                       R"("protocolVersion":)" + protocol::quoted(protocol::newest_version) + R"(,"capabilities":)" +
                           protocol::write_abilities(abilities) + R"(,"clientInfo":)" + our_name());
}

std::string discover_request(std::uint64_t id) {
  return plain_request(id, protocol::era::modern, "server/discover");
}

std::string listen_request(std::uint64_t id, const std::set<std::string>& uris) {
  std::string filter =
      R"("notifications":{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true)";
  if (!uris.empty()) {
    filter += R"(,"resourceSubscriptions":[)";
    for (const std::string& uri : uris) {
      if (filter.back() != '[') filter += ',';
      protocol::append_quoted(filter, uri);
    }
    filter += ']';
  }
  return plain_request(id, protocol::era::modern, "subscriptions/listen", filter + "}");
}

std::string level_request(std::uint64_t id, std::string_view level) {
  return plain_request(id, protocol::era::legacy, "logging/setLevel", R"("level":)" + protocol::quoted(level));
}

std::string_view stream_of(std::string_view text, const protocol::message& notification) {
  return member(notification.meta.in(text), "io.modelcontextprotocol/subscriptionId");
}

std::string watch_request(std::uint64_t id, std::string_view uri, bool begin) {
  return plain_request(id, protocol::era::legacy, begin ? "resources/subscribe" : "resources/unsubscribe",
                       R"("uri":)" + protocol::quoted(uri));
}

std::string cancelled_notification(std::uint64_t id, std::string_view reason) {
  return R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + std::to_string(id) +
         R"(,"reason":)" + protocol::quoted(reason) + "}}";
}

bool read_hello(std::string_view result, server_hello& out, std::string& why) {
  out.protocol_version = text_member(result, "protocolVersion");
  if (out.protocol_version.empty()) {
    why = "its answer to initialize has no protocolVersion";
    return false;
  }
  if (!protocol::is_supported(out.protocol_version) && out.protocol_version != first_version) {
    why = "it speaks MCP revision " + printable(out.protocol_version, 40) + ", and we speak up to " +
          std::string(protocol::newest_version);
    return false;
  }
  read_offer(result, out);
  out.server_name = printable(text_member(member(result, "serverInfo"), "name"), 100);
  return true;
}

bool read_discovery(std::string_view result, server_hello& out, std::string& why) {
  if (!names_modern(member(result, "supportedVersions"))) {
    why = "its answer to server/discover does not name MCP revision " + std::string(protocol::modern_version);
    return false;
  }
  out.protocol_version = protocol::modern_version;
  read_offer(result, out);
  const std::string_view info = member(member(result, "_meta"), "io.modelcontextprotocol/serverInfo");
  out.server_name = printable(text_member(info, "name"), 100);
  return true;
}

std::optional<protocol::era> era_shown(const protocol::message& response, std::string_view text) {
  using protocol::era;
  if (!response.error) {
    return names_modern(member(response.result.in(text), "supportedVersions")) ? era::modern : era::legacy;
  }
  constexpr std::int64_t unknown_session = -32001, header_mismatch = -32020, missing_capability = -32021;
  switch (response.error_code) {
    case protocol::code::unsupported_version:
      return names_modern(member(member(response.error.in(text), "data"), "supported")) ? era::modern : era::legacy;
    case unknown_session:
    case header_mismatch:
    case missing_capability:
      return std::nullopt;
    default:
      return era::legacy;
  }
}

}  // namespace switchgear::upstream
