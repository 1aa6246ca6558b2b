// A histogram of call lengths, for showing a p99 only: the p99 rule counts slow calls exactly and needs none.
#pragma once

#include "base/time.hpp"

#include <array>
#include <bit>
#include <cstdint>

namespace switchgear::breaker {

/// Four buckets an octave from 65 us to 18 min, so a shown value is within 10 % of the true one.
/// Bucket 0 holds what has no length.
inline constexpr unsigned latency_buckets = 98;

constexpr unsigned latency_bucket(duration took) {
  constexpr unsigned first_bit = 16;
  if (took.count() <= 0) return 0;
  const auto ns = static_cast<std::uint64_t>(took.count());
  const unsigned top = static_cast<unsigned>(std::bit_width(ns)) - 1;
  if (top < first_bit) return 1;
  const unsigned bucket = 2 + (top - first_bit) * 4 + static_cast<unsigned>((ns >> (top - 2)) & 3);
  return bucket < latency_buckets ? bucket : latency_buckets - 1;
}

using latency_counts = std::array<std::uint32_t, latency_buckets>;

/// The length that `share` of the counted calls stay under, zero when none was counted.
duration latency_quantile(const latency_counts& counts, double share);

}  // namespace switchgear::breaker
