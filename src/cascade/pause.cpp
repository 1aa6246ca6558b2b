#include "cascade/pause.hpp"

#include <algorithm>

namespace switchgear::cascade {

duration pause_length(std::optional<duration> retry_after) {
  if (!retry_after || *retry_after <= duration::zero()) return default_pause;
  return std::min(*retry_after, longest_retry_after);
}

duration pause::left(std::string_view credential, time_point now) const {
  const std::lock_guard lock(mutex_);
  const auto found = ends_.find(credential);
  return found == ends_.end() ? duration::zero() : std::max(found->second - now, duration::zero());
}

bool pause::lengthen(std::string_view credential, time_point until, time_point now) {
  if (until <= now) return false;
  const std::lock_guard lock(mutex_);
  if (const auto found = ends_.find(credential); found != ends_.end()) {
    if (found->second >= until) return false;
    found->second = until;
  } else {
    if (ends_.size() >= most_credentials) make_room(now);
    ends_.emplace(credential, until);
  }
  const time_point::rep end = until.time_since_epoch().count();
  last_end_.store(std::max(end, last_end_.load(std::memory_order_relaxed)), std::memory_order_relaxed);
  return true;
}

void pause::make_room(time_point now) {
  if (std::erase_if(ends_, [&](const auto& each) { return each.second <= now; }) > 0) return;
  ends_.erase(std::ranges::min_element(ends_, {}, [](const auto& each) { return each.second; }));
}

}  // namespace switchgear::cascade
