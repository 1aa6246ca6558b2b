// How a concurrency limit stands, for whoever shows it.
#pragma once

#include "base/time.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace switchgear::port {

/// How long calls waited in a queue, answered or not.
struct wait_lengths {
  static constexpr std::array<duration, 10> ends = {std::chrono::milliseconds(1),   std::chrono::milliseconds(5),
                                                    std::chrono::milliseconds(10),  std::chrono::milliseconds(25),
                                                    std::chrono::milliseconds(50),  std::chrono::milliseconds(100),
                                                    std::chrono::milliseconds(250), std::chrono::milliseconds(500),
                                                    std::chrono::seconds(1),        std::chrono::seconds(10)};

  std::array<std::uint64_t, ends.size() + 1> counts{};  ///< an end belongs to its bucket; the last one has none
  duration sum{};

  void add(duration length) {
    ++counts[static_cast<std::size_t>(std::ranges::lower_bound(ends, length) - ends.begin())];
    sum += length;
  }
};

/// Why a call got no slot.
enum class limit_refusal : std::uint8_t {
  full,     ///< the limit was reached and the queue full, or the wait in it too long
  share,    ///< its principal held its share already
  no_time,  ///< it could not have been answered within its deadline
};
inline constexpr unsigned limit_refusal_count = 3;

struct limit_figures {
  std::string name;        ///< exported tool name, or an upstream's alias
  bool of_server = false;  ///< an alias
  unsigned limit = 0;      ///< now, if it is adaptive
  unsigned in_flight = 0;  ///< may be over the limit: probes are not refused, and an adaptive limit may have shrunk
  unsigned waiting = 0;
  std::array<std::uint64_t, limit_refusal_count> refused{};  ///< by limit_refusal, since the start
  wait_lengths waits;                                        ///< since the start
};

}  // namespace switchgear::port
