// A Redis as a whole, whatever its shape: which node has a slot, connections that heal, the library in its place.
#pragma once

#include "peers/redis/cluster_map.hpp"
#include "peers/redis/link.hpp"
#include "peers/redis/news.hpp"
#include "peers/redis/pace.hpp"
#include "peers/redis/slot.hpp"

#include <boost/asio/steady_timer.hpp>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::peers::redis {

/// Control thread. Connects in the background and again after each loss, to all nodes side by side, so that nobody
/// waits for a connection: while there is none to a node, commands for it are lost at once.
class store {
 public:
  /// `changed` hears which scope changed its state. Outlives the run of `io`.
  store(boost::asio::io_context& io, port::redis_settings settings, std::uint64_t seed,
        std::function<void(std::string_view)> changed);
  ~store();

  void start();
  void stop();

  /// There is a connection on which to try.
  bool usable() const;
  /// Why there is none, or why the last answers were no use; one line for people.
  const std::string& trouble() const { return trouble_; }
  /// The same of the node that has `slot`.
  const std::string& trouble(unsigned slot) const;
  /// "host:port" of the node that has `slot` now; empty when none has. Good until the next wait.
  std::string_view place_of(unsigned slot) const;
  /// Changes of this scope are to be heard. Asked for again, it is no more.
  void follow(std::string_view scope);

  /// An answer a command, all nodes at the same time, each within the settings' timeout. Commands for one node are
  /// carried out in order. Loads the library where it is missing, and follows a cluster's redirections.
  boost::asio::awaitable<std::vector<response>> ask(std::vector<routed> commands);

 private:
  using host = port::redis_settings::host;
  struct node;
  struct errand;
  struct round;

  boost::asio::awaitable<void> run();
  boost::asio::awaitable<void> pause(time_point until);
  void wake();

  bool survey_due(time_point now) const;
  boost::asio::awaitable<void> survey();
  boost::asio::awaitable<bool> ask_sentinels();
  boost::asio::awaitable<bool> ask_cluster();
  bool take_map(const response& said, const host& from);
  void keep_only(std::vector<host> places);
  void reach_all(time_point now);
  boost::asio::awaitable<void> reach(std::shared_ptr<node> to);
  boost::asio::awaitable<std::string> check_role(link& of);
  time_point next_task(time_point now) const;

  boost::asio::awaitable<void> carry_out(round& asked, std::vector<errand> errands);
  static errand& errand_to(const std::shared_ptr<node>& whom, std::vector<errand>& among);
  std::vector<errand> repairs(round& asked);
  std::shared_ptr<node> redirected(const response& said, const node& by);
  void judge(const round& asked);
  std::shared_ptr<node> node_of(unsigned slot) const;
  std::shared_ptr<node> node_at(const host& where) const;
  bool is_cluster() const { return settings_.shape == port::redis_settings::layout::cluster; }

  boost::asio::io_context& io_;
  const port::redis_settings settings_;
  spread chance_;
  std::map<std::string, std::shared_ptr<node>, std::less<>> nodes_;  // by place; one, but for a cluster
  std::vector<std::shared_ptr<node>> homes_;                         // of a cluster's slots
  link informant_;                                                   // a sentinel, or a node that knows the map
  std::size_t first_informant_ = 0;                                  // who of the settings' hosts is asked first
  pace survey_pace_;
  time_point surveyed_{};
  bool map_is_old_ = true;
  news news_;
  boost::asio::steady_timer timer_;
  std::string trouble_ = "not connected yet";
  bool woken_ = false;
  bool stopping_ = false;
};

}  // namespace switchgear::peers::redis
