// The secret that all replicas share: who brings it, who follows, and what it tells of a store that was emptied.
#pragma once

#include "base/time.hpp"
#include "peers/redis/response.hpp"
#include "peers/redis/slot.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::peers::redis {

/// Whoever comes first puts its own into the store; the others take what is there. When the store has lost it, whoever
/// knows it puts it back, behind a mark that much else is missing. It is looked at again and again, since a store that
/// was emptied does not say so. No I/O, no clock.
class shared_key {
 public:
  static constexpr std::size_t size = 32;
  static constexpr duration look_every = std::chrono::seconds(1);

  /// `prefix` of all names in the store. `own`: `size` bytes of chance, for a store that has none.
  shared_key(std::string_view prefix, std::string own);

  /// Empty until hear() has returned true.
  const std::string& known() const { return known_; }
  bool due(time_point now) const { return now >= next_; }
  time_point next() const { return next_; }
  /// The connection is a new one, which may lead to another store: to be asked at once.
  void look_again() { next_ = {}; }

  /// `memory`: for how long what was lost may be missed.
  std::vector<routed> ask(duration memory, time_point now);
  /// The answers to ask(), one each. True: known() is another one.
  bool hear(const std::vector<response>& said);

  /// Asks, behind other questions in the same round, whether the store has all that was ever written.
  std::vector<routed> ask_for_losses() const;
  /// The two answers to that. False: what is not there may have been lost.
  static bool nothing_lost(const response& key, const response& mark);

 private:
  // One slot of a cluster has both, so that they are written and read in order.
  std::string key_, mark_;
  std::string own_;
  std::string known_;
  time_point next_{};
  bool lost_ = false;  // by the store, which has not been told so yet
};

}  // namespace switchgear::peers::redis
