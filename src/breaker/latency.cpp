#include "breaker/latency.hpp"

#include <numeric>

namespace switchgear::breaker {
namespace {

// The middle of a bucket: half a step above its lower edge.
duration middle(unsigned bucket) {
  if (bucket <= 1) return std::chrono::microseconds(33);
  const unsigned octave = (bucket - 2) / 4, quarter = (bucket - 2) % 4;
  const std::int64_t step = std::int64_t{1} << (octave + 14);
  return duration(step * (4 + quarter) + step / 2);
}

}  // namespace

duration latency_quantile(const latency_counts& counts, double share) {
  const std::uint64_t all = std::accumulate(counts.begin() + 1, counts.end(), std::uint64_t{0});
  if (all == 0) return {};
  const double wanted = share * static_cast<double>(all);
  std::uint64_t below = 0;
  for (unsigned bucket = 1; bucket < latency_buckets; ++bucket) {
    below += counts[bucket];
    if (static_cast<double>(below) >= wanted) return middle(bucket);
  }
  return middle(latency_buckets - 1);
}

}  // namespace switchgear::breaker
