// When a second try is begun beside a first that takes longer than usual.
// Source: Dean and Barroso, "The Tail at Scale" (Communications of the ACM 56, 2013), hedged requests.
#pragma once

#include "base/time.hpp"
#include "breaker/latency.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

namespace switchgear::cascade {

struct hedge_policy {
  double quantile = 0;  ///< share of good answers that come sooner than a second try begins, below 1; 0: none begins
  duration least = std::chrono::milliseconds(20);  ///< no second try before
};

/// How long the good answers of one tool take: of about the last thousand. Any thread; adding is one atomic operation,
/// and now and then a pass over all buckets.
class latency_record {
 public:
  static constexpr std::uint32_t least_known = 50;  ///< with fewer answers nothing is usual yet
  static constexpr std::uint32_t most_known = 1024;

  void add(duration took) noexcept;

  /// The length that a share `quantile` of answers stays within, to about 10 %; nothing while too few are known.
  std::optional<duration> quantile(double quantile) const;

 private:
  std::array<std::atomic<std::uint32_t>, breaker::latency_buckets> counts_{};
  std::atomic<std::uint32_t> known_{0};
};

/// How long after the first try the second one begins; nothing if it shall not. `left`: until the call's deadline.
std::optional<duration> hedge_after(const hedge_policy& policy, const latency_record& known, duration left);

}  // namespace switchgear::cascade
