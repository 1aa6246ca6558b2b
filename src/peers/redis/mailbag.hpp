// Mails that wait for their way to Redis.
#pragma once

#include "base/time.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace switchgear::peers::redis {

/// In order, and of a limited size: while Redis is slow or away the oldest ones are dropped, whose readers wait no
/// longer. No I/O, no clock, no thread of its own.
class mailbag {
 public:
  static constexpr std::size_t most_bytes = 8 << 20;
  static constexpr std::size_t most_mails = 4096;
  static constexpr duration lifetime = std::chrono::seconds(5);
  static constexpr std::size_t load = 1 << 20;  // of one take(), unless a single mail is more

  void put(std::string bytes, time_point now);
  /// The next ones to be published.
  std::vector<std::string> take(time_point now);

  bool empty() const { return waiting_.empty(); }
  std::size_t bytes() const { return bytes_; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  struct item {
    std::string bytes;
    time_point put;
  };
  void drop_first();

  std::deque<item> waiting_;
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace switchgear::peers::redis
