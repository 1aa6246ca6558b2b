// Takes connections on a free port of this machine, in the test's own event loop.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace switchgear::test {

/// Until stop(), which must come before its end if the loop runs on.
class loopback_acceptor {
 public:
  using socket = boost::asio::ip::tcp::socket;

  loopback_acceptor(boost::asio::io_context& io, std::function<void(socket peer)> taken)
      : acceptor_(io, {boost::asio::ip::address_v4::loopback(), 0}), taken_(std::move(taken)) {
    boost::asio::co_spawn(io, accept(), [](std::exception_ptr) {});
  }

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  std::string url(std::string_view path = "/mcp") const {
    return "http://127.0.0.1:" + std::to_string(port()) + std::string(path);
  }
  void stop() {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
  }

 private:
  boost::asio::awaitable<void> accept() {
    for (;;) {
      boost::system::error_code failed;
      socket peer = co_await acceptor_.async_accept(boost::asio::redirect_error(boost::asio::use_awaitable, failed));
      if (failed) co_return;
      taken_(std::move(peer));
    }
  }

  boost::asio::ip::tcp::acceptor acceptor_;
  std::function<void(socket peer)> taken_;
};

}  // namespace switchgear::test
