// A TCP server that answers HTTP requests with bytes from a script, in the test's own event loop.
#pragma once

#include "support/loopback_acceptor.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace switchgear::test {

/// Takes one request a connection after the other; each gets the next step of the script.
class scripted_server {
 public:
  struct step {
    std::vector<std::string> pieces;  ///< written one after the other; "" in between lets the loop turn
    bool close = false;               ///< afterwards; else the connection stays
  };

  explicit scripted_server(boost::asio::io_context& io)
      : acceptor_(io, [this, &io](socket peer) {
          ++connections_;
          boost::asio::co_spawn(io, serve(std::move(peer)), [](std::exception_ptr) {});
        }) {}

  std::string url() const { return acceptor_.url(); }
  void then_do(step next) { script_.push_back(std::move(next)); }
  void then(std::string answer) { script_.push_back({{std::move(answer)}}); }

  const std::vector<std::string>& requests() const { return requests_; }
  unsigned connections() const { return connections_; }
  void stop() { acceptor_.stop(); }

 private:
  using socket = boost::asio::ip::tcp::socket;

  boost::asio::awaitable<void> serve(socket peer) {
    std::string received;
    for (;;) {
      boost::system::error_code error;
      const std::size_t head =
          co_await boost::asio::async_read_until(peer, boost::asio::dynamic_buffer(received), "\r\n\r\n",
                                                 boost::asio::redirect_error(boost::asio::use_awaitable, error));
      if (error) co_return;
      const std::size_t at = received.substr(0, head).find("Content-Length: ");
      const std::size_t size = head + (at == std::string::npos ? 0 : std::stoul(received.substr(at + 16)));
      while (received.size() < size && !error) {
        char piece[4096];
        const std::size_t got = co_await peer.async_read_some(
            boost::asio::buffer(piece), boost::asio::redirect_error(boost::asio::use_awaitable, error));
        received.append(piece, got);
      }
      requests_.push_back(received.substr(0, size));
      received.erase(0, size);
      if (script_.empty()) co_return;
      const step now = std::move(script_.front());
      script_.pop_front();
      for (const std::string& piece : now.pieces) {
        co_await boost::asio::async_write(peer, boost::asio::buffer(piece),
                                          boost::asio::redirect_error(boost::asio::use_awaitable, error));
      }
      if (now.close) co_return;
    }
  }

  loopback_acceptor acceptor_;
  std::deque<step> script_;
  std::vector<std::string> requests_;
  unsigned connections_ = 0;
};

}  // namespace switchgear::test
