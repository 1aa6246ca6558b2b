// The nodes of a Redis, and who of them has which slot.
#pragma once

#include "peers/redis/cluster_map.hpp"
#include "peers/redis/link.hpp"
#include "peers/redis/pace.hpp"

#include <boost/asio/io_context.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace switchgear::peers::redis {

/// Held by whoever waits for its answers, so that it may leave the list meanwhile.
struct node {
  node(boost::asio::io_context& io, port::redis_settings::host at);

  /// Connected and, with sentinels, known to be the primary.
  bool usable() const { return !opening && line.usable(); }

  port::redis_settings::host where;
  std::string place;
  link line;
  redis::pace pace;
  bool opening = false;
  std::string trouble = "not connected yet";  ///< why it is no use, or why its last answers were none
};

/// Control thread. There are as many as the last survey named: nobody's answers make it grow.
class nodes {
 public:
  using host = port::redis_settings::host;

  nodes(boost::asio::io_context& io, port::redis_settings::layout shape);

  /// These and no others. Those who stay keep their connections.
  void keep_only(std::vector<host> places);
  /// A cluster's map. Slots that are not in it are nobody's.
  void take(const std::vector<slot_range>& map);
  /// Corrects the map.
  void move(unsigned slot, std::shared_ptr<node> to) { homes_[slot] = std::move(to); }

  /// Who has the slot; null: nobody. Not of a cluster: the one node there is.
  std::shared_ptr<node> of(unsigned slot) const;
  std::shared_ptr<node> at(const host& where) const;
  const std::map<std::string, std::shared_ptr<node>>& all() const { return by_place_; }
  bool any_usable() const;
  bool all_usable() const;
  bool are_cluster() const { return !homes_.empty(); }

 private:
  boost::asio::io_context& io_;
  std::map<std::string, std::shared_ptr<node>> by_place_;
  std::vector<std::shared_ptr<node>> homes_;  // of a cluster's slots; empty for other shapes
};

}  // namespace switchgear::peers::redis
