// Which sessions are to be written down as alive or ended, and what is read of one in the store.
#pragma once

#include "base/time.hpp"
#include "peers/redis/response.hpp"
#include "peers/redis/slot.hpp"
#include "port/fleet.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace switchgear::peers::redis {

/// Notes wait here, one a session, until Redis has taken them. A session that has ended stays written down as such for
/// a while, so that a replica that has not heard of it and says that it is in use does not bring it back to life.
/// No I/O, no clock.
class attendance {
 public:
  static constexpr std::size_t most_waiting = 20'000;
  static constexpr duration longest_idle = std::chrono::hours(24 * 7);
  static constexpr duration least_memory = std::chrono::minutes(10);  // of a session that has ended

  struct note {
    std::string key;
    bool ended = false;
    time_point until{};  ///< when it is of no use any more: what the store is told as a time to live
  };

  /// In use, for `idle` from `now` on. Says nothing after forget() of the same session.
  void keep(std::string key, duration idle, time_point now);
  /// Ended. Takes the place of what keep() said.
  void forget(std::string key, time_point now);

  /// At most `most` notes for the store, those of ended sessions first, without those that are of no use any more.
  std::vector<note> take(std::size_t most, time_point now);
  /// The store has not taken this one. What was said of the session since then holds.
  void put_back(note unheard);

  bool empty() const { return by_key_.empty(); }
  std::size_t waiting() const { return by_key_.size(); }
  /// Notes that found no place, or lost it to newer ones.
  std::uint64_t dropped() const { return dropped_; }
  /// How long a session may be silent, or an ended one is remembered, as far as is known here.
  duration memory() const { return memory_; }

 private:
  using notes = std::list<note>;

  void add(note made);
  void erase(notes::iterator which);
  notes& list_of(const note& one) { return one.ended ? ended_ : kept_; }

  notes kept_, ended_;  // the oldest first; what was put back counts as new, so that others have their turn
  std::unordered_map<std::string, notes::iterator> by_key_;
  duration memory_ = least_memory;
  std::uint64_t dropped_ = 0;
};

/// Where a session is written down: by a digest, since whoever knows its id may use it.
std::string session_key(std::string_view prefix, std::string_view session);
/// Appends what writes a note down, in an order that no other replica's writing can spoil, and says how many commands
/// that is. The last one's answer tells whether the store has taken it.
std::size_t write_note(const attendance::note& of, time_point now, std::vector<routed>& into);
/// What is written down under a session's key.
routed look_up(const std::string& key);
/// `nothing_lost` from the store, so that a session that is not in it is not alive.
port::presence read_note(const response& said, bool nothing_lost);

}  // namespace switchgear::peers::redis
