// The socket under a link: bytes out, answers in, plain or TLS.
#pragma once

#include "base/result.hpp"
#include "base/time.hpp"
#include "peers/redis/exchange.hpp"
#include "peers/redis/response.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace switchgear::peers::redis {

/// Control thread. Held by whoever waits on its socket, so that it may be let go at any time; close() ends those waits.
class connection : public std::enable_shared_from_this<connection> {
 public:
  explicit connection(boost::asio::io_context& io);
  ~connection();

  /// Empty, or why not. Ends by `until` or with close().
  boost::asio::awaitable<std::string> connect(std::string host, std::uint16_t port,
                                              std::shared_ptr<boost::asio::ssl::context> tls, time_point until);
  /// After connect(): hands each answer to `told` until the connection ends, and then calls `ended`, once, with why.
  void read(std::function<void(response)> told, std::function<void(std::string)> ended);
  void write(const std::vector<command>& commands);
  void close();

 private:
  struct tls_layer;

  boost::asio::awaitable<error_code> connect_tcp(const std::string& host, std::uint16_t port);
  boost::asio::awaitable<std::string> shake_hands(const std::string& host);
  boost::asio::awaitable<void> read_all(std::shared_ptr<connection> self);
  void write_more();
  void end(std::string why);

  boost::asio::io_context& io_;
  boost::asio::ip::tcp::resolver resolver_;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer limit_;
  std::unique_ptr<tls_layer> tls_;
  response_reader reader_;
  std::array<char, 16 * 1024> arrived_;
  std::string waiting_, leaving_;  // to be written; being written
  bool closed_ = false;
  std::function<void(response)> told_;
  std::function<void(std::string)> ended_;
};

}  // namespace switchgear::peers::redis
