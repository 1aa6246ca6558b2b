// One connection to a Redis node.
#pragma once

#include "base/result.hpp"
#include "base/time.hpp"
#include "peers/redis/exchange.hpp"
#include "peers/redis/response.hpp"
#include "port/shared_state.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace switchgear::peers::redis {

/// As a node is named in texts for people and in maps: "name:port".
std::string place_of(const port::redis_settings::host& where);

/// Control thread. Each command has a time limit; one that is not answered in time closes the connection, since what
/// comes after it could not be told apart any more. So does an answer that nobody asked for, unless hear() was called.
class link {
 public:
  static constexpr duration open_limit = std::chrono::seconds(1);

  explicit link(boost::asio::io_context& io);
  ~link();
  link(const link&) = delete;
  link& operator=(const link&) = delete;

  /// Connects, greets and identifies itself within `open_limit`, with the password and the certificates that stand in
  /// the settings' files now. Empty, or why not, without any secret. One at a time; ends early with close().
  boost::asio::awaitable<std::string> open(port::redis_settings::host where, const port::redis_settings& settings);
  /// Greeted, and not ended since.
  bool usable() const;
  /// What is still without an answer is lost.
  void close();
  /// Why the last connection ended; empty when it was closed here, for one, because time was up.
  const std::string& ended_why() const { return ended_why_; }
  /// Called once when an open connection has ended, from the control thread's loop. Set before open().
  void on_end(std::function<void()> told) { ended_ = std::move(told); }

  /// Commands on their way, all at once.
  class batch;
  std::shared_ptr<batch> send(const std::vector<command>& commands);
  /// The answers, one a command; what is missing at `until` is lost.
  boost::asio::awaitable<std::vector<response>> answers(std::shared_ptr<batch> sent, time_point until);
  boost::asio::awaitable<std::vector<response>> ask(std::vector<command> commands, duration limit);

  /// From now on answers belong to no command: `told` gets all of them. Before tell(), on an open link.
  void hear(std::function<void(const response&)> told);
  /// A command whose answer, if any, hear() tells.
  void tell(const command& words);

 private:
  struct session;
  boost::asio::awaitable<std::string> greet(const port::redis_settings& settings, time_point until);
  void take(response said);

  boost::asio::io_context& io_;
  std::shared_ptr<session> session_;  // null: neither open nor opening
  std::string ended_why_;
  std::function<void()> ended_;
};

}  // namespace switchgear::peers::redis
