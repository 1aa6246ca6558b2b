#include "breaker/probes.hpp"

#include <algorithm>
#include <cmath>

namespace switchgear::breaker {
namespace {

constexpr duration second = std::chrono::seconds(1);

}  // namespace

void probes::begin() {
  // issued_ stays: the share of a second holds across periods.
  leases_.clear();
  done_ = failed_ = slow_ = neutral_ = 0;
}

std::uint32_t probes::room(const settings& values) const {
  const std::uint32_t cap = values.probes_in_flight, busy = in_flight();
  const std::uint32_t open_results = values.probes_needed - std::min(values.probes_needed, done_);
  return std::min(cap - std::min(cap, busy), open_results - std::min(open_results, busy));
}

std::uint64_t probes::share(const settings& values, std::uint64_t offered) {
  const double part = std::ceil(values.probe_share * static_cast<double>(offered) - 1e-9);
  return part < 1 ? 1 : static_cast<std::uint64_t>(part);
}

void probes::grant(std::uint32_t want, const settings& values, std::uint64_t offered, time_point now,
                   std::vector<lease>& into) {
  std::erase_if(issued_, [&](time_point at) { return at <= now - second; });
  const std::uint64_t allowed = share(values, offered);
  const std::uint64_t left = allowed - std::min<std::uint64_t>(allowed, issued_.size());
  const duration result_within = use_within + values.probe_timeout;
  for (std::uint64_t n = std::min({std::uint64_t{want}, std::uint64_t{room(values)}, left}); n > 0; --n) {
    into.push_back({++last_token_, use_within, result_within});
    leases_.push_back({last_token_, now + result_within + grace, false});
    issued_.push_back(now);
  }
}

duration probes::next(const settings& values, std::uint64_t offered, time_point now) const {
  if (room(values) == 0) return duration::max();
  const auto recent = std::upper_bound(issued_.begin(), issued_.end(), now - second);
  const auto in_second = static_cast<std::uint64_t>(issued_.end() - recent);
  return in_second < share(values, offered) ? duration::zero() : *recent + second - now;
}

bool probes::settle(const probe_report& said) {
  const auto found = std::find_if(leases_.begin(), leases_.end(), [&](const held& h) { return h.token == said.token; });
  if (found == leases_.end()) return false;
  if (said.fate == fate::used) {
    found->used = true;
    return true;
  }
  leases_.erase(found);
  if (said.fate == fate::unused) return true;
  if (said.fate == fate::neutral && !said.slow && neutral_ < neutral_allowed) {
    ++neutral_;
    return true;
  }
  ++done_;
  if (said.fate == fate::failure) ++failed_;
  if (said.slow) ++slow_;
  return true;
}

bool probes::expire(time_point now) {
  std::uint32_t lost = 0;
  std::erase_if(leases_, [&](const held& h) {
    if (h.expires > now) return false;
    if (h.used) ++lost;
    return true;
  });
  done_ += lost;
  failed_ += lost;
  return lost > 0;
}

}  // namespace switchgear::breaker
