// The counters of one tool on one worker, and their sum.
#pragma once

#include "base/time.hpp"
#include "cascade/terms.hpp"
#include "port/recorder.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace switchgear::observe {

/// Written by one thread, read by any. Adding is a load and a store, not a locked instruction: 1-2 ns, no contention.
class counter {
 public:
  void add(std::uint64_t n) noexcept { value_.store(value() + n, std::memory_order_relaxed); }
  std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Upper ends of the latency buckets, about logarithmic, with the default p99 limit of 1.5 s as one of them so that a
/// dashboard can draw the share of calls beyond it. The last bucket, without an end, is not listed.
inline constexpr std::array<duration, 17> bucket_ends = {
    std::chrono::microseconds(500),  std::chrono::milliseconds(1),    std::chrono::microseconds(2500),
    std::chrono::milliseconds(5),    std::chrono::milliseconds(10),   std::chrono::milliseconds(25),
    std::chrono::milliseconds(50),   std::chrono::milliseconds(100),  std::chrono::milliseconds(250),
    std::chrono::milliseconds(500),  std::chrono::milliseconds(1000), std::chrono::milliseconds(1500),
    std::chrono::milliseconds(2500), std::chrono::seconds(5),         std::chrono::seconds(10),
    std::chrono::seconds(30),        std::chrono::seconds(60)};
inline constexpr std::size_t bucket_count = bucket_ends.size() + 1;

/// Index of the bucket that `took` falls into; an end belongs to its bucket, as Prometheus' `le` says.
constexpr std::size_t bucket_of(duration took) {
  return static_cast<std::size_t>(std::lower_bound(bucket_ends.begin(), bucket_ends.end(), took) - bucket_ends.begin());
}

/// Sums over the workers, or over the tools.
struct tool_totals {
  std::array<std::array<std::uint64_t, cascade::reason_count>, cascade::served_by_count> calls{};
  std::array<std::uint64_t, bucket_count> took{};
  std::uint64_t took_ns = 0;
  std::uint64_t is_error = 0;
  std::uint64_t refused = 0;
  std::uint64_t slow = 0;
  std::uint64_t retries = 0;
  std::uint64_t hedges = 0;
  std::uint64_t damped = 0;
  std::array<std::uint64_t, cascade::stored_answer_count> stored{};

  std::uint64_t all_calls() const;
};

/// Aligned so that two workers never write the same line.
struct alignas(64) tool_counters {
  std::array<std::array<counter, cascade::reason_count>, cascade::served_by_count> calls;
  std::array<counter, bucket_count> took;
  counter took_ns;
  counter is_error;
  counter refused;
  counter slow;
  counter retries;
  counter hedges;
  counter damped;
  std::array<counter, cascade::stored_answer_count> stored;

  /// The one writer.
  void add(const port::call_record& record) noexcept;
  void add_to(tool_totals& sum) const;
};

}  // namespace switchgear::observe
