// How a session with a tool server begins, whatever the transport: the texts that go out, and what the answers say.
// Source: MCP 2025-11-25 basic/lifecycle, server/tools.
#pragma once

#include "base/result.hpp"
#include "protocol/message.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace switchgear::upstream {

/// Who we say we are. Nothing is declared that would let a server send us requests (sampling, elicitation, roots).
std::string initialize_request(std::uint64_t id);
inline constexpr std::string_view initialized_notification =
    R"({"jsonrpc":"2.0","method":"notifications/initialized"})";
/// `cursor` is a raw token of the page before, empty for the first page.
std::string tools_list_request(std::uint64_t id, std::string_view cursor);
/// Tells a server that we no longer wait for request `id`. `reason` is plain text.
std::string cancelled_notification(std::uint64_t id, std::string_view reason);

/// What a server said of itself in its answer to initialize.
struct server_hello {
  std::string protocol_version;
  std::string server_name;  ///< serverInfo.name, made safe to print, at most 100 bytes; may be empty
};

/// Reads the `result` of initialize. On failure `why` is one line for people: the revision is not one of ours, or the
/// result is not what the protocol says.
bool read_hello(std::string_view result, server_hello& out, std::string& why);

/// How much of tools/list we take from one server: a server must not fill our memory or keep us asking for ever.
inline constexpr std::size_t most_pages = 1000;
inline constexpr std::size_t most_list_bytes = 32 * 1024 * 1024;

/// Is `code` the answer of a server that has no tools at all, so that its list is empty?
inline bool means_no_tools(std::int64_t error_code) {
  return error_code == -32601;
}

}  // namespace switchgear::upstream
