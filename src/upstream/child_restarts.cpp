#include "upstream/child_restarts.hpp"

#include <algorithm>

namespace switchgear::upstream {

namespace {

constexpr duration minute = std::chrono::seconds(60);

}  // namespace

bool child_restarts::may_start_early(time_point now) const {
  if (start_count_ == 0) return true;
  const time_point latest = starts_[(start_count_ - 1) % most_starts];
  return now - latest >= demand_gap && starts_since(now - minute) < demand_starts;
}

void child_restarts::started(time_point now) {
  starts_[start_count_++ % most_starts] = now;
}

void child_restarts::ended(time_point now, time_point was_ready_since, double chance) {
  if (was_ready_since != time_point::max() && now - was_ready_since >= steady) failures_ = 0;
  ++failures_;
  constexpr unsigned most_doublings = 6;  // 0.5 s * 2^6 is beyond the longest pause
  const duration full = std::min(longest_pause, shortest_pause * (1U << std::min(failures_ - 1, most_doublings)));
  const duration shortening = std::chrono::duration_cast<duration>(full * (chance / 4));
  due_ = now + full - shortening;
  if (start_count_ >= most_starts) {
    const time_point oldest = starts_[start_count_ % most_starts];
    due_ = std::max(due_, oldest + minute);
  }
}

std::size_t child_restarts::starts_since(time_point moment) const {
  const auto known = static_cast<std::ptrdiff_t>(std::min(start_count_, most_starts));
  return static_cast<std::size_t>(
      std::count_if(starts_.begin(), starts_.begin() + known, [&](time_point start) { return start > moment; }));
}

}  // namespace switchgear::upstream
