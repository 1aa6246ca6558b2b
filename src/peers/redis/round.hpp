// Commands on their way to the nodes that have their slots, and back.
#pragma once

#include "peers/redis/nodes.hpp"
#include "peers/redis/slot.hpp"

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>
#include <vector>

namespace switchgear::peers::redis {

/// Used once. All nodes work at the same time: one that is frozen costs the others nothing but the wait until the
/// limit. What a node refused was not carried out, and is asked again where the reason can be removed.
class round {
 public:
  static constexpr unsigned most_repairs = 3;  // moved there, where the library is missing, and once for bad luck

  /// Ends after `timeout`, whatever happens.
  round(std::vector<routed> commands, nodes& among, duration timeout);

  boost::asio::awaitable<void> carry_out();
  /// One a command. Once.
  std::vector<response> take() { return std::move(said_); }

  /// An answer says that slots have moved, or are about to.
  bool map_is_old() const { return map_is_old_; }
  /// Where they have moved to, as far as a redirection said; else empty.
  const std::string& moved_to() const { return moved_to_; }
  /// The last one that a node had, and has for itself as node::trouble; empty: none had any.
  const std::string& trouble() const { return trouble_; }

 private:
  struct errand;

  static errand& errand_to(const std::shared_ptr<node>& whom, std::vector<errand>& among);
  boost::asio::awaitable<void> run(std::vector<errand>& errands);
  std::vector<errand> repairs();
  std::shared_ptr<node> redirected(const response& said, const node& by);
  void judge();

  const std::vector<routed> commands_;
  nodes& nodes_;
  const duration timeout_;
  const time_point until_;
  std::vector<response> said_;
  std::vector<std::shared_ptr<node>> whom_;  // was asked last, of each command; null: nobody
  std::vector<std::shared_ptr<node>> furnished_;
  std::string trouble_;
  std::string moved_to_;
  bool map_is_old_ = false;
};

}  // namespace switchgear::peers::redis
