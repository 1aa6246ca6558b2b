// What the bench's tool server answers: canned MCP texts around the caller's id.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace switchgear::bench {

/// The tools of the bench. Each answers with a result of its size; `stream` with 20 events that come one by one,
/// `flood` with 1000 that come at once, `broken` with HTTP 500.
enum class tool { small, medium, large, huge, stream, flood, broken, none };

inline constexpr std::size_t small_size = 300;
inline constexpr std::size_t medium_size = 16 * 1024;
inline constexpr std::size_t large_size = 1024 * 1024;
inline constexpr std::size_t huge_size = 10 * large_size;
inline constexpr int stream_events = 20;
inline constexpr int flood_events = 1000;

tool tool_named(std::string_view name);

/// A tools/call of about 290 bytes, as a client writes it, with a progress token.
std::string call_request(std::string_view name, unsigned id);
std::string initialize_request();
inline constexpr std::string_view initialized_notification =
    R"({"jsonrpc":"2.0","method":"notifications/initialized"})";

/// What is read of a request. Only texts of this program and of the gateway arrive here, so a search is enough.
struct request_view {
  std::string_view method, id, name, progress_token;
};
request_view look_at(std::string_view body);

/// A response is `response_start`, the id, and one of the ends.
inline constexpr std::string_view response_start = R"({"jsonrpc":"2.0","id":)";
std::string_view call_end(tool which);
std::string_view initialize_end();
std::string_view tools_list_end();

/// The stream's event number `step` (0-based), progress about `token`, ready to send.
std::string progress_event(std::string_view token, int step);

}  // namespace switchgear::bench
