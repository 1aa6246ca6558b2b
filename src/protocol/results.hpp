// JSON-RPC results that we write ourselves.
// Source: MCP 2025-11-25 basic/lifecycle; 2026-07-28 server/discover, basic/patterns/subscriptions.
#pragma once

#include "base/parts.hpp"

#include <string>
#include <string_view>

namespace switchgear::protocol {

/// The result of ping.
inline constexpr std::string_view empty_result = "{}";

/// A complete response that carries `result` (JSON). `id` is a raw token.
std::string write_result(std::string_view id, std::string_view result);

/// The same as pieces that point to the arguments and to constants: a stored result goes out without a copy.
void write_result(std::string_view id, std::string_view result, parts& out);

struct server_identity {
  std::string_view name, version, title;
};

/// What the gateway says of itself when a client asks. `capabilities` is JSON; `instructions` may be empty.
struct self_description {
  server_identity server;
  std::string_view capabilities;
  std::string_view instructions;
};

/// The result of initialize.
std::string initialize_result(std::string_view protocol_version, const self_description& self);

/// The result of server/discover: every revision that is served. It holds for as long as the client likes to check.
std::string discover_result(const self_description& self);

/// The result that ends subscriptions/listen in good order; `id` is the request's, raw.
std::string listen_result(std::string_view id);

/// The result of tools/list, all on one page. `definitions` is a JSON array.
std::string tools_list_result(std::string_view definitions);

}  // namespace switchgear::protocol
