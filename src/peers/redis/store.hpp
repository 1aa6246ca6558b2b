// A Redis as a whole, whatever its shape: which node has a slot, connections that heal, the library in its place.
#pragma once

#include "peers/redis/link.hpp"
#include "peers/redis/slot.hpp"

#include <boost/asio/steady_timer.hpp>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchgear::peers::redis {

/// Control thread. Connects in the background and again after each loss, so that nobody waits for a connection: while
/// there is none, commands are lost at once.
class store {
 public:
  static constexpr duration connect_limit = std::chrono::seconds(2);

  /// `news` hears which scope changed its state. Outlives the run of `io`.
  store(boost::asio::io_context& io, port::redis_settings settings, std::uint64_t seed,
        std::function<void(std::string_view)> news);

  void start();
  void stop();

  /// There is a connection on which to try.
  bool usable() const;
  /// "host:port" of the node that has the slot now; empty when none is known.
  std::string_view place_of(unsigned slot) const;
  /// Why there is none, or why the last answers were no use; one line for people.
  const std::string& trouble() const { return trouble_; }

  /// An answer a command, each within the settings' timeout. Loads the library where it is missing, and follows a
  /// cluster's redirection once.
  boost::asio::awaitable<std::vector<response>> ask(std::vector<routed> commands);

 private:
  using host = port::redis_settings::host;
  using asked = std::vector<std::size_t>;  // places in the list of commands

  boost::asio::awaitable<void> run();
  boost::asio::awaitable<void> pause(duration length);
  boost::asio::awaitable<std::string> connect();
  boost::asio::awaitable<std::string> connect_single(host where);
  boost::asio::awaitable<std::string> connect_sentinel();
  boost::asio::awaitable<std::string> connect_cluster();
  bool take_map(const response& slots, const host& from);
  boost::asio::awaitable<std::string> hear_news();

  boost::asio::awaitable<void> round(const std::vector<routed>& commands, std::vector<std::pair<link*, asked>> groups,
                                     std::vector<response>& into, time_point until);
  boost::asio::awaitable<void> repair(const std::vector<routed>& commands, std::vector<response>& into,
                                      time_point until);
  link* link_to(unsigned slot);
  link* link_to(const host& where);
  link& node(const host& where);
  void fresh_tls();
  void wake();

  boost::asio::io_context& io_;
  const port::redis_settings settings_;
  std::mt19937_64 random_;
  std::function<void(std::string_view)> hear_;
  std::optional<boost::asio::ssl::context> tls_;
  std::map<std::string, std::unique_ptr<link>, std::less<>> nodes_;  // by "name:port"
  std::array<link*, 16384> slots_{};                                 // of a cluster; else all the same
  link* primary_ = nullptr;                                          // of the other shapes
  host news_from_;
  link news_;
  boost::asio::steady_timer timer_;
  std::string trouble_ = "not connected yet";
  bool woken_ = false;
  bool map_is_old_ = false;
  bool stopping_ = false;
};

}  // namespace switchgear::peers::redis
