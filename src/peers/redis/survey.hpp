// Finds out which nodes there are: from the settings, from sentinels, or from a cluster's nodes.
#pragma once

#include "peers/redis/nodes.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <string>
#include <utility>

namespace switchgear::peers::redis {

/// Control thread. `settings` must outlive it.
class survey {
 public:
  static constexpr duration look_around = std::chrono::seconds(1);      // while somebody is missing
  static constexpr duration patience = std::chrono::milliseconds(250);  // with a node that is connected

  survey(boost::asio::io_context& io, const port::redis_settings& settings, spread& chance);

  /// What it found last is no longer true.
  void is_old() { old_ = true; }
  /// The same, by a redirection to `owner`, whom to ask first: the others may not have heard yet, and would lead back.
  void is_old(std::string owner) {
    old_ = true;
    owner_ = std::move(owner);
  }
  /// What it found was of use: the next time it need not wait.
  void was_right() { pace_.achieved(); }
  /// `missing`: a node that it found cannot be reached. Whoever is dead does not say who has its slots now. Sentinels
  /// are asked once a second in any case.
  bool due(time_point now, bool missing) const;
  /// When it is due, as things are; max: nothing is known to be wrong.
  time_point next() const { return old_ ? pace_.next() : time_point::max(); }

  /// Puts what it finds into `into`. Empty, or why it found nothing.
  boost::asio::awaitable<std::string> carry_out(nodes& into);
  /// Ends what is under way, for good.
  void stop();

 private:
  using host = port::redis_settings::host;

  boost::asio::awaitable<std::string> ask_sentinels(nodes& into);
  boost::asio::awaitable<std::string> ask_cluster(nodes& into);
  /// The host of the settings to be asked now. The one that answers stays the first.
  const host& informant() const { return settings_.hosts[first_ % settings_.hosts.size()]; }

  const port::redis_settings& settings_;
  spread& chance_;
  link line_;  // to a sentinel, for as long as it answers; or to one of the settings' nodes, for one question
  std::size_t first_ = 0;
  std::string owner_;  // place of the node that was the last to get a slot
  pace pace_;
  time_point begun_{};
  bool old_ = true;
  bool stopped_ = false;
};

}  // namespace switchgear::peers::redis
