// Something that answers as a Redis node would, or not at all, in the test's own event loop.
#pragma once

#include "peers/redis/exchange.hpp"
#include "peers/redis/response.hpp"
#include "port/shared_state.hpp"
#include "support/loopback_acceptor.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchgear::test {

/// Hears commands and answers each with what `answer` returns; an empty text is no answer. Ends with stop().
class fake_node {
 public:
  using words = peers::redis::command;
  static constexpr std::string_view hang_up = "hang up";  // as an answer

  explicit fake_node(boost::asio::io_context& io)
      : acceptor_(io, [this, &io](socket peer) {
          ++connections_;
          peer.set_option(boost::asio::ip::tcp::no_delay(true));
          peers_.push_back(std::make_shared<socket>(std::move(peer)));
          boost::asio::co_spawn(io, serve(peers_.back()), [](std::exception_ptr) {});
        }) {}

  std::function<std::string(const words&)> answer = [](const words&) { return std::string("+OK\r\n"); };

  port::redis_settings::host where() const { return {"127.0.0.1", acceptor_.port()}; }
  std::string place() const { return "127.0.0.1:" + std::to_string(where().port); }

  const std::vector<words>& heard() const { return heard_; }
  /// How often the command that begins with `first` was heard.
  std::size_t times(std::string_view first) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(heard_, [&](const words& each) { return !each.empty() && each[0] == first; }));
  }
  unsigned connections() const { return connections_; }

  /// To all who are connected, unasked.
  void say(const std::string& bytes) {
    for (auto& each : peers_) boost::asio::write(*each, boost::asio::buffer(bytes));
  }
  void hang_up_on_all() {
    boost::system::error_code ignored;
    for (auto& each : peers_) each->close(ignored);
    peers_.clear();
  }
  void stop() {
    acceptor_.stop();
    hang_up_on_all();
  }

 private:
  using socket = boost::asio::ip::tcp::socket;

  boost::asio::awaitable<void> serve(std::shared_ptr<socket> peer) {
    peers::redis::response_reader reader;  // a command is a list of texts, and so looks like an answer
    std::array<char, 4096> piece;
    for (;;) {
      boost::system::error_code failed;
      const std::size_t got = co_await peer->async_read_some(
          boost::asio::buffer(piece), boost::asio::redirect_error(boost::asio::use_awaitable, failed));
      if (failed) break;
      reader.feed({piece.data(), got});
      while (auto command = reader.next()) {
        words heard;
        for (const auto& each : command->items) heard.push_back(each.text);
        heard_.push_back(heard);
        const std::string said = answer(heard);
        if (said == hang_up) peer->close(failed);
        if (!said.empty() && peer->is_open()) boost::asio::write(*peer, boost::asio::buffer(said), failed);
      }
      if (!peer->is_open()) break;
    }
    peers_.remove(peer);
  }

  loopback_acceptor acceptor_;
  std::list<std::shared_ptr<socket>> peers_;
  std::vector<words> heard_;
  unsigned connections_ = 0;
};

}  // namespace switchgear::test
