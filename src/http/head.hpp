// Heads of HTTP/1.x messages: read strictly, as views into the bytes that were received.
// Boost.Beast's basic_parser does the reading (docs/decisions/0008); source of the rules: RFC 9112.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace switchgear::http {

inline constexpr std::size_t most_head_bytes = 32 * 1024;

/// How the bytes after a head are to be read.
struct framing {
  std::optional<std::uint64_t> content_length;
  bool chunked = false;
  bool keep_alive = true;  ///< the sender wants to go on with this connection
};

/// The parts of a request head that the gateway looks at. Views point into the text given to read_request_head.
struct request_head {
  std::string_view method;
  std::string_view target;
  http::framing framing;
  bool is_http_1_0 = false;
  bool expects_continue = false;
  std::string_view host;
  std::string_view origin;
  std::string_view content_type;
  std::string_view content_encoding;
  std::string_view session_id;        ///< Mcp-Session-Id
  std::string_view protocol_version;  ///< MCP-Protocol-Version
  std::string_view mcp_method;        ///< Mcp-Method; no data() when absent, as with all of these
  std::string_view mcp_name;          ///< Mcp-Name
  std::string_view last_event_id;     ///< Last-Event-ID
  bool has_accept = false;
  bool accepts_json = false;  ///< some Accept line covers application/json
  bool accepts_sse = false;   ///< some Accept line covers text/event-stream
  bool events_first = false;  ///< text/event-stream stands before application/json
};

struct response_head {
  int status = 0;
  http::framing framing;
  std::string_view content_type;
  std::string_view content_encoding;
  std::string_view session_id;
  std::string_view retry_after;
  std::string_view location;
  std::string_view www_authenticate;
};

/// Where the head in `received` ends (behind its empty line), 0 if more bytes are needed. `searched` is how far an
/// earlier search came; it is updated. Errors: malformed_head at the first bare LF, head_too_large.
result<std::size_t> find_head_end(std::string_view received, std::size_t& searched);

/// `text` is a whole head with its empty line. Errors: errc.
result<request_head> read_request_head(std::string_view text);
result<response_head> read_response_head(std::string_view text);

/// True for a response that has no body whatever its head says (1xx, 204, 304).
constexpr bool has_no_body(int status) {
  return status < 200 || status == 204 || status == 304;
}

}  // namespace switchgear::http
