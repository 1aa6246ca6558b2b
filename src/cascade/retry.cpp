#include "cascade/retry.hpp"

#include <algorithm>

namespace switchgear::cascade {
namespace {

// An answer that is the target's own, a refusal of ours and what nobody may repeat are final.
bool may_repeat(const finished_try& last) {
  switch (last.how) {
    case ending::unreachable:
    case ending::failed:
    case ending::timed_out:
    case ending::throttled:
      return !last.sent || last.repeatable || last.declined;
    default:
      return false;
  }
}

}  // namespace

std::optional<duration> pause_before_retry(const retry_policy& policy, unsigned made, const finished_try& last,
                                           duration left, double chance) {
  if (made >= policy.attempts || !may_repeat(last)) return std::nullopt;
  const unsigned doublings = std::min(made - 1, retry_policy::most_attempts);
  const duration limit = std::min(policy.backoff * (1U << doublings), policy.longest_pause);
  duration pause(static_cast<duration::rep>(static_cast<double>(limit.count()) * chance));
  // Not before the target wants it; the jitter comes on top, so that those who were sent away together do not come
  // back together.
  if (last.retry_after) pause += std::clamp(*last.retry_after, duration::zero(), longest_retry_after);
  if (left - pause < machine::minimum_left) return std::nullopt;
  return pause;
}

void retry_budget::call() noexcept {
  if (lent_.load(std::memory_order_relaxed) > 0) {
    lent_.fetch_sub(share_, std::memory_order_relaxed);
    return;
  }
  if (left_.load(std::memory_order_relaxed) >= static_cast<std::int32_t>(reserve) * whole) return;
  left_.fetch_add(share_, std::memory_order_relaxed);
}

bool retry_budget::take() noexcept {
  std::int32_t left = left_.load(std::memory_order_relaxed);
  while (left >= whole) {
    if (left_.compare_exchange_weak(left, left - whole, std::memory_order_relaxed)) return true;
  }
  return false;
}

}  // namespace switchgear::cascade
