// What a replica tells the authority of a scope, and what it hears back. Plain values: they can be a function call in
// this process or a message to a shared store.
#pragma once

#include "base/time.hpp"
#include "breaker/words.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace switchgear::breaker {

/// Calls by what they meant. `timed` and `slow` are a pair of their own: a call counts there when it passes the p99
/// limit, or at its end, and so also when its client gave up waiting.
struct counts {
  std::uint64_t calls = 0;     ///< successes and failures
  std::uint64_t failures = 0;  ///< of calls
  std::uint64_t timed = 0;     ///< calls whose length is known to be under or over the limit
  std::uint64_t slow = 0;      ///< of timed: over the limit
  std::uint64_t connects = 0;  ///< of failures: connect failures

  counts& operator+=(const counts& more) {
    calls += more.calls;
    failures += more.failures;
    timed += more.timed;
    slow += more.slow;
    connects += more.connects;
    return *this;
  }
  counts& operator-=(const counts& less) {
    calls -= less.calls;
    failures -= less.failures;
    timed -= less.timed;
    slow -= less.slow;
    connects -= less.connects;
    return *this;
  }
  bool operator==(const counts&) const = default;
};

/// Outcomes since the last report, all admitted under one generation while closed.
struct batch {
  breaker::counts counts;
  std::uint64_t trailing = 0;  ///< of counts.failures: those after the last success; order beyond that is unknown
};

/// What became of a probe's lease.
enum class fate : std::uint8_t {
  used,    ///< a call is under way with it
  unused,  ///< given back: no call was made
  success,
  failure,
  neutral,  ///< the call ended without saying anything about the tool's health
};

struct probe_report {
  std::uint64_t token = 0;
  breaker::fate fate = breaker::fate::unused;
  bool slow = false;
};

/// From a replica.
struct report {
  std::uint64_t generation = 0;  ///< under which everything in it was admitted
  breaker::batch batch;
  std::vector<probe_report> probes;
  std::uint64_t offered = 0;  ///< calls that came while the breaker was not simply closed, refused ones included
  std::uint32_t want = 0;     ///< leases that it could use now

  bool empty() const { return batch.counts == counts{} && probes.empty() && offered == 0 && want == 0; }
};

/// Leave for one probe. Lengths count from the moment at which the report was sent, so that the holder always gives
/// up before the authority takes the lease back.
struct lease {
  std::uint64_t token = 0;
  duration use_within{};     ///< a call must start by then
  duration result_within{};  ///< and be settled by then
};

/// The truth about a scope at a moment. Lengths again, since clocks of two machines never meet.
struct view {
  std::uint64_t generation = 0;
  breaker::state state = breaker::state::closed;
  breaker::mode mode = breaker::mode::enforce;
  bool forced = false;                    ///< open by the operator's word
  std::uint8_t ramp = 0;                  ///< quarters of the calls to admit, 1..3; 0 = all
  bool watch = false;                     ///< time alone may change it: ask again soon even when nothing happens
  duration since{};                       ///< how long it has been in this state
  duration retry_after{};                 ///< open: what is left of the stay; else 0
  duration next_lease = duration::max();  ///< earliest moment for another lease; max = not before a probe ends
  duration hold = duration::max();        ///< what is left of the operator's word; max = none, or it has no end
};

/// A change of state, or of what would have been one in observe mode.
struct transition {
  breaker::state from = breaker::state::closed;
  breaker::state to = breaker::state::closed;
  std::uint64_t generation = 0;  ///< after it
  breaker::cause cause = breaker::cause::none;
  bool would_be = false;  ///< observe mode: it would have tripped; the state is what it was
};

/// Figures for people: what stands in the window and how far it is from a trip.
struct figures {
  breaker::counts counts;
  std::uint64_t failures_to_trip = 0;  ///< R1 trips at this many failures of counts.calls; 0 = it does not judge so few
  std::uint64_t slow_to_trip = 0;      ///< R3 trips at this many slow of counts.timed; 0 = off or too few
  double outage_evidence = 0;          ///< R2: trips at settings::outage_threshold
  std::uint32_t probes_in_flight = 0;
  std::uint32_t probes_done = 0;
  std::uint32_t probes_failed = 0;                   ///< of probes_done
  std::uint64_t stale = 0;                           ///< outcomes of another generation: they decided nothing
  breaker::cause last_cause = breaker::cause::none;  ///< of the last transition
};

/// What one replica has told of a scope in the present period, within about a window.
struct contribution {
  std::string replica;
  breaker::counts counts;
  duration heard{};  ///< how long ago it spoke
};

/// To a replica.
struct reply {
  breaker::view view;
  std::vector<lease> leases;
  std::vector<transition> transitions;  ///< in order; each is told to one replica only
  breaker::figures figures;
  bool other_settings = false;              ///< thresholds of a newer configuration are in force, not the reporter's
  std::vector<contribution> contributions;  ///< of all replicas, where that was asked for
};

}  // namespace switchgear::breaker
