#include "sim/fleet/watcher.hpp"

#include <algorithm>

namespace switchgear::sim::fleet {

using breaker::mode;
using breaker::state;

void watcher::fail(unsigned invariant, std::string text) {
  if (!broken_) broken_ = {invariant, "I" + std::to_string(invariant) + ": " + std::move(text)};
}

void watcher::asked_leave(const member& from, bool admitted, bool probe) {
  const breaker::view& view = from.view;
  if (view.forced) {
    if (admitted) fail(17, "a call passed a breaker that the operator opened: " + from.gate.name());
  } else if (view.mode != mode::enforce) {
    if (!admitted) fail(17, "a breaker that only observes refused a call: " + from.gate.name());
  } else if (view.state == state::open) {
    if (admitted) fail(5, "a call passed an open breaker: " + from.gate.name());
  } else if (view.state == state::half_open && admitted != probe) {
    fail(5, "a call passed a half open breaker without a lease: " + from.gate.name());
  }
}

// A lease that Redis forgot is still its holder's: one more for each. While Redis' clock leaps ahead, leases end early
// for Redis alone. A lease that a gateway gave itself while it was alone is good for its second also when Redis is
// back.
void watcher::probe_began(breaker::scope which, std::uint64_t generation) {
  const std::size_t i = index_of(which);
  const unsigned running = ++probes_[i][generation];
  const unsigned allowed = settings_[i].probes_in_flight + lost_leases_[i][generation];
  if (running > allowed && !excused_[i].contains(generation)) {
    fail(1, std::to_string(running) + " probes under way in the fleet, allowed are " + std::to_string(allowed));
  }
}

void watcher::probe_ended(breaker::scope which, std::uint64_t generation) {
  --probes_[index_of(which)][generation];
}

void watcher::reported(member& from, const breaker::report& said) {
  const breaker::counts& counts = said.batch.counts;
  if (counts.calls != from.expected.calls || counts.failures != from.expected.failures) {
    fail(2, from.gate.name() + " reports " + std::to_string(counts.failures) + " failures of " +
                std::to_string(counts.calls) + " calls of its generation, there were " +
                std::to_string(from.expected.failures) + " of " + std::to_string(from.expected.calls));
  }
  if (counts.slow > counts.timed) fail(7, "more slow calls than calls");
  from.expected = {};
}

void watcher::told(const member& to, std::uint64_t generation_before, const breaker::reply& said, time_point truly) {
  const std::size_t i = index_of(to.gate.scope());
  if (to.gate.generation() < generation_before) fail(4, "a gateway's generation went back");
  if (said.view.generation < generation_before) fail(4, "a gateway was told of a generation that is over");
  if (to.alone) {
    if (!said.leases.empty()) excused_[i].insert(said.view.generation);
    const std::uint32_t cap = settings_[i].probes_in_flight;
    if (said.figures.probes_in_flight > std::max(1u, cap / to.replicas)) {
      fail(16, std::to_string(said.figures.probes_in_flight) + " probes of a gateway alone");
    }
    return;
  }
  if (said.view.generation > generation_before && entered_[i].contains(said.view.generation)) {
    longest_lag_ = std::max(longest_lag_, truly - entered_[i][said.view.generation]);
  }
  // One that stays away alone (I15) is open under the generation of all.
  const auto past = history_[i].find(said.view.generation);
  const bool away = said.view.state == state::open;
  if (past != history_[i].end() && !away && !past->second.contains(said.view.state)) {
    fail(4, "generation " + std::to_string(said.view.generation) + " is " + std::string(name(said.view.state)) +
                " for one gateway, and never was in Redis");
  }
}

std::optional<time_point> watcher::entered(breaker::scope which, std::uint64_t generation) const {
  const auto found = entered_[index_of(which)].find(generation);
  return found == entered_[index_of(which)].end() ? std::nullopt : std::optional(found->second);
}

void watcher::clock_set(duration by) {
  if (by <= duration::zero()) return;
  for (std::size_t i = 0; i < truths_.size(); ++i) {
    for (truth* each : {&truths_[i], &remembered_[i]}) {
      each->leapt = true;
      excused_[i].insert(each->generation);
    }
  }
}

void watcher::fail_over() {
  for (std::size_t i = 0; i < truths_.size(); ++i) {
    lost_leases_[i][truths_[i].generation] += static_cast<unsigned>(truths_[i].leases.size());
    // An earlier generation lives again, with leases that were settled since.
    lost_leases_[i][remembered_[i].generation] += static_cast<unsigned>(remembered_[i].leases.size());
  }
  truths_ = remembered_;
}

void watcher::forget(breaker::scope which, bool state_only) {
  truth& it = truths_[index_of(which)];
  lost_leases_[index_of(which)][it.generation] += static_cast<unsigned>(it.leases.size());
  truth fresh;
  if (state_only) {
    fresh.senders = it.senders;
    fresh.rows = it.rows;
    fresh.leases = it.leases;
    fresh.counted = it.counted;
  }
  fresh.exact = false;
  it = std::move(fresh);
}

void watcher::window_is(breaker::scope which, const remote::sums& seen) {
  if (seen.totals != seen.slots) {
    fail(7, "the totals of the " + std::string(name(which)) + "'s window are not the sum of its slots");
  }
}

void watcher::at_rest(const gateway& one, breaker::scope which, const member& seen) {
  const truth& it = of(which);
  const std::string whose = "the " + std::string(name(which)) + "'s breaker";
  if (it.state != state::closed) {
    fail(12, whose + " is still " + std::string(name(it.state)) + " after a long time of health");
  } else if (seen.gate.generation() != it.generation || seen.gate.state() != it.state) {
    fail(14, one.instance() + " holds " + whose + " for " + std::string(name(seen.gate.state())) + ", generation " +
                 std::to_string(seen.gate.generation()) + "; it is generation " + std::to_string(it.generation));
  }
}

}  // namespace switchgear::sim::fleet
