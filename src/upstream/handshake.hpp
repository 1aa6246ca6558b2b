// The requests that the gateway itself sends to a tool server, and what it reads of their answers. Pure.
// Source: MCP 2025-11-25, basic/lifecycle, server/tools "Listing Tools".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/buffer.hpp"
#include "base/result.hpp"

namespace switchgear::upstream {

/// initialize with our newest revision and no capabilities: a server then has nothing to ask us.
std::string initialize_request(std::uint64_t id);

inline constexpr std::string_view initialized_notification =
    R"({"jsonrpc":"2.0","method":"notifications/initialized"})";

/// tools/list; `cursor` is the raw JSON token of the page before, "" for the first page.
std::string tools_list_request(std::uint64_t id, std::string_view cursor);

struct server_hello {
  std::string protocol_version;
  std::string server_name;
  bool has_tools = false;
};

/// Reads a response to initialize. Errors: errc::bad_handshake; `why` gets the reason for people.
result<server_hello> read_hello(const buffer& response, std::string& why);

/// The `result` of a response to tools/list and the raw cursor of the next page ("" after the last one).
struct tools_answer {
  std::string result;
  std::string next_cursor;
};
result<tools_answer> read_tools_answer(const buffer& response, std::string& why);

/// Pages and bytes that one upstream may list; more is a bad_handshake, so that a cursor loop ends.
inline constexpr unsigned most_tool_pages = 1000;
inline constexpr std::size_t most_tool_bytes = 64 * 1024 * 1024;

}  // namespace switchgear::upstream
