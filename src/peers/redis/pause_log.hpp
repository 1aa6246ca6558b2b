// What replicas write down of tools that are to be left alone, and what they read of it.
#pragma once

#include "base/time.hpp"
#include "peers/redis/response.hpp"
#include "peers/redis/slot.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::peers::redis {

/// The log is one stream that all replicas append to and each reads from where it was, so that whoever comes late
/// learns what is still in force, and nobody hears twice of the same. It holds names and lengths, and the store's own
/// clock stamps them: no two clocks are compared. It is short, and gone when nothing in it can be in force. No I/O, no
/// clock.
class pause_log {
 public:
  static constexpr std::size_t most_waiting = 1000;
  static constexpr std::size_t most_entries = 1000;  // in the store
  static constexpr duration longest = std::chrono::minutes(5);
  static constexpr duration look_every = std::chrono::seconds(1);

  explicit pause_log(std::string_view prefix);

  struct note {
    std::string name;
    time_point until{};
  };
  /// To be written down. Of several about one name the longest counts.
  void add(std::string name, time_point until);
  /// What is to be written down, without what is over.
  std::vector<note> take(time_point now);
  bool empty() const { return waiting_.empty(); }
  /// Notes that found no place.
  std::uint64_t dropped() const { return dropped_; }

  /// One command for each, and one about the stream, which is the last.
  std::vector<routed> write(const std::vector<note>& notes, time_point now) const;

  /// A store that may be another one is read from its beginning.
  void start_anew() { last_ = {}; }
  /// Two commands: what is new.
  std::vector<routed> read() const;

  struct entry {
    std::string name;
    duration left{};
  };
  /// What their answers tell. Whatever is no entry of ours is passed over.
  std::vector<entry> hear(const std::vector<response>& said);

 private:
  const std::string key_;
  std::map<std::string, time_point, std::less<>> waiting_;
  std::string last_;  // id of the last entry that was read; empty: none
  std::uint64_t dropped_ = 0;
};

}  // namespace switchgear::peers::redis
