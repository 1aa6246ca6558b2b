#include "app/demo_http.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <utility>

namespace switchgear::app {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;

namespace {

constexpr auto as_values = asio::as_tuple(asio::use_awaitable);

}  // namespace

asio::awaitable<std::optional<demo_response>> demo_connection::ask(demo_request request, duration limit) {
  const bool fresh = !stream_;
  if (fresh) {
    stream_.emplace(on_);
    read_.clear();
  }
  stream_->expires_after(limit);
  if (fresh) {
    const auto [failed] =
        co_await stream_->async_connect(tcp::endpoint(asio::ip::address_v4::loopback(), port_), as_values);
    if (failed) {
      stream_.reset();
      co_return std::nullopt;
    }
    boost::system::error_code ignored;
    stream_->socket().set_option(tcp::no_delay(true), ignored);
  }
  request.set(http::field::host, "127.0.0.1:" + std::to_string(port_));
  request.prepare_payload();
  const auto [unsent, written] = co_await http::async_write(*stream_, request, as_values);
  if (!unsent) {
    http::response_parser<http::string_body> parser;
    const auto [failed, size] = co_await http::async_read(*stream_, read_, parser, as_values);
    if (!failed) {
      if (!parser.keep_alive()) stream_.reset();
      co_return parser.release();
    }
  }
  stream_.reset();
  co_return std::nullopt;
}

}  // namespace switchgear::app
