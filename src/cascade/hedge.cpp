#include "cascade/hedge.hpp"

#include "cascade/machine.hpp"

#include <algorithm>

namespace switchgear::cascade {

// Whoever fills the record halves it: old answers fade, and no clock is needed. Adding meanwhile loses nothing but
// exactness.
void latency_record::add(duration took) noexcept {
  counts_[breaker::latency_bucket(took)].fetch_add(1, std::memory_order_relaxed);
  if (known_.fetch_add(1, std::memory_order_relaxed) + 1 != most_known) return;
  std::uint32_t left = 0;
  for (auto& count : counts_) {
    const std::uint32_t half = count.load(std::memory_order_relaxed) / 2;
    count.fetch_sub(half, std::memory_order_relaxed);
    left += count.load(std::memory_order_relaxed);
  }
  known_.store(std::min(left, most_known - 1), std::memory_order_relaxed);
}

std::optional<duration> latency_record::quantile(double quantile) const {
  if (known_.load(std::memory_order_relaxed) < least_known) return std::nullopt;
  breaker::latency_counts counts;
  for (unsigned i = 0; i < counts.size(); ++i) counts[i] = counts_[i].load(std::memory_order_relaxed);
  return breaker::latency_quantile(counts, quantile);
}

std::optional<duration> hedge_after(const hedge_policy& policy, const latency_record& known, duration left) {
  if (policy.quantile <= 0) return std::nullopt;
  const auto usual = known.quantile(policy.quantile);
  if (!usual) return std::nullopt;
  const duration after = std::max(*usual, policy.least);
  if (left - after < machine::minimum_left) return std::nullopt;
  return after;
}

}  // namespace switchgear::cascade
