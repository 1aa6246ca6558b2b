// One client connection of the demonstration: a request, an answer, a deadline.
#pragma once

#include "base/time.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace switchgear::app {

using demo_request = boost::beast::http::request<boost::beast::http::string_body>;
using demo_response = boost::beast::http::response<boost::beast::http::string_body>;

/// Connects to a loopback port when first asked, and again after a failure. One exchange at a time.
class demo_connection {
 public:
  demo_connection(const boost::asio::any_io_executor& on, std::uint16_t port) : on_(on), port_(port) {}

  /// The whole answer, or nothing when it did not come within `limit`; the connection is then closed.
  boost::asio::awaitable<std::optional<demo_response>> ask(demo_request request, duration limit);

 private:
  boost::asio::any_io_executor on_;
  std::uint16_t port_;
  std::optional<boost::beast::tcp_stream> stream_;
  boost::beast::flat_buffer read_;
};

}  // namespace switchgear::app
