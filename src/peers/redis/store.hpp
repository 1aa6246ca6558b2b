// A Redis as a whole, whatever its shape: which node has a slot, connections that heal, the library in its place.
#pragma once

#include "peers/redis/bell.hpp"
#include "peers/redis/news.hpp"
#include "peers/redis/nodes.hpp"
#include "peers/redis/slot.hpp"
#include "peers/redis/survey.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::peers::redis {

/// Control thread. Connects in the background and again after each loss, to all nodes side by side, so that nobody
/// waits for a connection: while there is none to a node, commands for it are lost at once.
class store {
 public:
  /// `heard` gets each message of the channels that are followed. Outlives the run of `io`.
  store(boost::asio::io_context& io, port::redis_settings settings, std::uint64_t seed,
        std::function<void(std::string_view)> heard);

  /// Called when a node has become usable. Before start().
  void on_reach(std::function<void()> told) { reached_ = std::move(told); }
  void start();
  void stop();

  /// There is a connection on which to try.
  bool usable() const { return nodes_.any_usable(); }
  /// The same of the node that has `slot`.
  bool usable(unsigned slot) const;
  /// Why there is none, or why the last answers were no use; one line for people.
  const std::string& trouble() const { return trouble_; }
  /// The same of the node that has `slot`.
  const std::string& trouble(unsigned slot) const;
  /// "host:port" of the node that has `slot` now; empty when none has. Good until the next wait.
  std::string_view place_of(unsigned slot) const;
  /// Messages of this channel are to be heard: in a cluster a sharded one, else a pattern for channels. Asked for
  /// again, it is no more.
  void follow(const std::string& channel);

  /// An answer a command, all nodes at the same time, each within the settings' timeout. Commands for one node are
  /// carried out in order. Loads the library where it is missing, and follows a cluster's redirections.
  boost::asio::awaitable<std::vector<response>> ask(std::vector<routed> commands);

 private:
  boost::asio::awaitable<void> run();
  time_point next_task(time_point now) const;
  void reach_all(time_point now);
  boost::asio::awaitable<void> reach(std::shared_ptr<node> to);
  boost::asio::awaitable<std::string> check_role(link& of);
  void map_is_old(std::string owner);

  boost::asio::io_context& io_;
  std::function<void()> reached_;
  const port::redis_settings settings_;
  spread chance_;
  nodes nodes_;
  survey survey_;
  news news_;
  bell work_;
  std::string trouble_ = "not connected yet";
  bool stopping_ = false;
};

}  // namespace switchgear::peers::redis
