// One keep-alive connection of the load: a request out, its whole response in.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace switchgear::bench {

struct target {
  std::uint16_t port = 0;
  std::string session;  ///< Mcp-Session-Id, if the server gave one
};

/// A POST of `body` as an MCP client sends it.
std::string http_request(const target& to, std::string_view body);

/// The other side must be one of: JSON with Content-Length, or chunked. Responses come one at a time.
class client {
 public:
  struct response {
    bool ok = false;  ///< HTTP 200, whole
    int status = 0;
    bool is_error = false;  ///< the result says isError, looked for in short bodies only
    std::string head;
  };

  explicit client(boost::asio::ip::tcp::socket socket);

  /// An unconnected socket when the other side cannot be reached.
  static boost::asio::awaitable<boost::asio::ip::tcp::socket> connect(std::uint16_t port);

  boost::asio::awaitable<response> exchange(std::string_view request);

 private:
  static constexpr std::size_t piece_size = 256 * 1024;

  boost::asio::awaitable<bool> read_more();

  boost::asio::ip::tcp::socket socket_;
  std::string in_;  // the head and what came with it; of a long body only its latest piece
  std::size_t filled_ = 0;
};

/// initialize and initialized; gives the session's id. Throws std::runtime_error when the server does not answer so.
boost::asio::awaitable<void> open_session(target& to);

}  // namespace switchgear::bench
