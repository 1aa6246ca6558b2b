// How talking with a tool server begins, whatever the transport: the texts that go out, and what the answers say.
// Source: MCP 2025-11-25 basic/lifecycle; 2026-07-28 basic/versioning, server/discover, subscriptions/listen.
#pragma once

#include "protocol/abilities.hpp"
#include "protocol/message.hpp"
#include "protocol/server_abilities.hpp"
#include "protocol/version.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace switchgear::upstream {

/// Servers of the first revision are still many, and nothing that we send to them differs.
inline constexpr std::string_view first_version = "2024-11-05";

// What we send. `id` is ours; the texts have no line break.

/// Who we say we are, and what the server may ask of the client behind us.
std::string initialize_request(std::uint64_t id, const protocol::client_abilities& abilities = {});
inline constexpr std::string_view initialized_notification =
    R"({"jsonrpc":"2.0","method":"notifications/initialized"})";
/// A modern request, and the way to learn whether a server is modern at all.
std::string discover_request(std::uint64_t id);
/// One request of our own in the server's era; `params` is its members with no brace around them, or empty.
std::string plain_request(std::uint64_t id, protocol::era era, std::string_view method, std::string_view params = {});
/// A modern server's news: every list it has, and the resources at `uris`.
std::string listen_request(std::uint64_t id, const std::set<std::string>& uris);
/// The raw id of the request whose stream a modern server's notification belongs to; empty if it does not say.
std::string_view stream_of(std::string_view text, const protocol::message& notification);
/// Legacy: begins or ends to be told when the resource changes.
std::string watch_request(std::uint64_t id, std::string_view uri, bool begin);
/// Legacy: from now on the server sends log messages of this level (its name) and above.
std::string level_request(std::uint64_t id, std::string_view level);
/// Tells a server that we no longer wait for request `id`. `reason` is plain text.
std::string cancelled_notification(std::uint64_t id, std::string_view reason);

/// What a server said of itself.
struct server_hello {
  std::string protocol_version;
  std::string server_name;               ///< made safe to print, at most 100 bytes; may be empty
  std::string capabilities;              ///< the object as it came; "{}" if there was none
  std::string instructions;              ///< plain text; may be empty
  protocol::server_abilities abilities;  ///< what they mean
};

/// Reads the `result` of initialize. On failure `why` is one line for people: the revision is not one of ours, or the
/// result is not what the protocol says.
bool read_hello(std::string_view result, server_hello& out, std::string& why);
/// The same for the result of server/discover, which names several revisions.
bool read_discovery(std::string_view result, server_hello& out, std::string& why);

/// What the answer to server/discover says of the server's era; nothing if it says nothing, as with an error that
/// servers of both eras use. An error that names the revisions it would like better is an answer of its era.
std::optional<protocol::era> era_shown(const protocol::message& response, std::string_view text);

}  // namespace switchgear::upstream
