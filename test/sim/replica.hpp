// One replica's breaker, driven by virtual calls at the cadence of the real one: counts go out every 100 ms, and
// within 10 ms of a failure or slow call.
#pragma once

#include "breaker/authority.hpp"
#include "breaker/outcome.hpp"
#include "sim/dice.hpp"

#include <algorithm>
#include <vector>

namespace switchgear::sim {

struct trip {
  time_point at;
  breaker::cause cause;
};

class replica {
 public:
  replica(breaker::scope scope, const breaker::settings& values, time_point start, dice& random)
      : authority_(scope, values, start), random_(random), next_flush_(start + tick), last_flush_(start) {}

  /// A call that comes at `now` and ends at once.
  void call(time_point now, const breaker::outcome& how) {
    while (next_flush_ <= now) flush(next_flush_);
    const bool failed = how.verdict == breaker::verdict::failure;
    if (view_.state == breaker::state::closed && (view_.ramp == 0 || (turn_++ & 3) < view_.ramp)) {
      auto& counts = said_.batch.counts;
      ++counts.calls;
      ++counts.timed;
      counts.slow += how.slow;
      counts.connects += how.connect;
      counts.failures += failed;
      said_.batch.trailing = failed ? said_.batch.trailing + 1 : 0;
      if (failed || how.slow) soon(now);
      return;
    }
    ++said_.offered;
    if (view_.state == breaker::state::closed) return;
    if (leases_.empty()) {
      said_.want = 1;
      soon(now);
    } else {
      said_.probes.push_back(
          {leases_.back().token, failed ? breaker::fate::failure : breaker::fate::success, how.slow});
      leases_.pop_back();
      soon(now);
    }
  }

  const std::vector<trip>& trips() const { return trips_; }
  breaker::state state() const { return view_.state; }

 private:
  static constexpr duration tick = std::chrono::milliseconds(100);
  static constexpr duration gap = std::chrono::milliseconds(10);

  void soon(time_point now) { next_flush_ = std::min(next_flush_, std::max(now, last_flush_ + gap)); }

  void flush(time_point now) {
    last_flush_ = now;
    next_flush_ = now + tick;
    if (said_.empty() && !view_.watch) return;
    said_.generation = view_.generation;
    const breaker::reply answer = authority_.exchange(said_, now, random_.unit());
    said_ = {};
    if (answer.view.generation != view_.generation) leases_.clear();
    view_ = answer.view;
    leases_.insert(leases_.end(), answer.leases.begin(), answer.leases.end());
    for (const breaker::transition& change : answer.transitions) {
      if (change.from == breaker::state::closed) trips_.push_back({now, change.cause});
    }
  }

  breaker::authority authority_;
  dice& random_;
  breaker::view view_;
  breaker::report said_;
  std::vector<breaker::lease> leases_;
  std::vector<trip> trips_;
  time_point next_flush_;
  time_point last_flush_;
  std::uint64_t turn_ = 0;
};

}  // namespace switchgear::sim
