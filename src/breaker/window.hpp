// The counts of the last seconds, a slot each, with a running total.
#pragma once

#include "base/time.hpp"
#include "breaker/report.hpp"

#include <cstdint>
#include <vector>

namespace switchgear::breaker {

/// What was added is in total() until exactly `length` slots later, and total() is the sum of the slots at all times.
/// Takes moments that never go back (monotone). Adding costs O(1), or O(slots) after a pause.
class window {
 public:
  explicit window(duration length) : slots_(static_cast<std::size_t>(length / second)) {}

  /// Lets go of slots that are too old at `now`.
  void advance(time_point now);
  /// Adds to the slot of the last advance().
  void add(const counts& more);
  void clear();

  const counts& total() const { return total_; }
  /// Summed afresh, for the test that total() is right.
  counts recount() const;

 private:
  static constexpr duration second = std::chrono::seconds(1);

  std::vector<counts> slots_;
  counts total_;
  std::int64_t head_ = 0;  // the second that the newest slot stands for
};

/// How many events came within the last second, to a tenth of one.
class last_second {
 public:
  void add(std::uint64_t events, time_point now);
  std::uint64_t sum(time_point now);

 private:
  void advance(time_point now);

  static constexpr duration tenth = std::chrono::milliseconds(100);
  static constexpr unsigned slots = 10;
  std::uint64_t slots_[slots] = {};
  std::uint64_t total_ = 0;
  std::int64_t head_ = 0;
};

}  // namespace switchgear::breaker
