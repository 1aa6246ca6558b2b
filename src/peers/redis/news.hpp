// Hears what is called out in Redis: at one node by patterns, in a cluster by sharded channels, each on the node that
// has it. A message may be lost, and nobody learns of that.
#pragma once

#include "peers/redis/link.hpp"
#include "peers/redis/pace.hpp"

#include <boost/asio/io_context.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace switchgear::peers::redis {

/// Control thread. Nobody waits for it: connections open in the background. Outlives the run of `io`.
class news {
 public:
  /// A connection that says nothing for so long, though it is asked at each align(), is given up.
  static constexpr duration longest_silence = std::chrono::seconds(3);

  static constexpr duration ask_again = std::chrono::seconds(1);  // for a channel, of the same node

  struct callbacks {
    std::function<void(std::string_view)> message;
    std::function<void(std::string)> moved;  ///< a channel has left its node, to this place; empty: who knows where
    std::function<void()> ended;             ///< a connection has ended or opened: align() has something to do
  };

  news(boost::asio::io_context& io, const port::redis_settings& settings, spread& chance, callbacks told);

  /// From the next align() on; at one node a pattern. False: it is followed already.
  bool follow(const std::string& channel);

  /// Where each channel is now; null: nowhere.
  using home = std::function<const port::redis_settings::host*(const std::string& channel)>;
  /// Makes the connections fit that, where their time has come. Now and then, and after each callback.
  void align(const home& of, time_point now);
  /// When align() has a connection to try again; max: nothing fails.
  time_point next_try() const;
  void close();

 private:
  struct listener;

  void attend(listener& of, const std::set<std::string>& channels, time_point now);
  void hear(listener& from, const response& said);
  boost::asio::awaitable<void> reach(std::shared_ptr<listener> to);

  boost::asio::io_context& io_;
  const port::redis_settings& settings_;
  spread& chance_;
  const bool sharded_;
  const callbacks told_;
  std::set<std::string> channels_;
  std::map<std::string, std::shared_ptr<listener>> listeners_;  // by place
};

}  // namespace switchgear::peers::redis
