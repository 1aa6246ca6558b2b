// One scope's truth: state, window, rules, probes. There is one for all replicas; replicas hold gates.
//
//            R1..R4 (T1)                cooldown over and somebody asks (T2)
//   closed --------------> open ------------------------------------------> half_open
//      ^                     ^                                                |   |
//      |                     +-------- too many probes failed (T4) -----------+   |
//      +-------------------------------- enough probes passed (T3) ---------------+
//
// The operator may force any of it (T6). Each change raises the generation by one; what was admitted under another
// generation decides nothing.
#pragma once

#include "base/time.hpp"
#include "breaker/binomial.hpp"
#include "breaker/connect_streak.hpp"
#include "breaker/monotone.hpp"
#include "breaker/probes.hpp"
#include "breaker/report.hpp"
#include "breaker/sequential.hpp"
#include "breaker/settings.hpp"
#include "breaker/window.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace switchgear::breaker {

/// Not thread-safe. Has no clock and no dice: every operation takes `now`, a clock's reading that may step (monotone),
/// and where it needs one a `random` number in [0, 1).
class authority {
 public:
  /// `values` must have passed check().
  authority(breaker::scope which, const settings& values, time_point now);

  /// The whole exchange with a replica: probes, then counts, then new leases, then how things stand.
  reply exchange(const report& said, time_point now, double random);
  /// How things stand, for somebody who has nothing to say.
  reply sync(time_point now, double random) { return exchange({}, now, random); }

  /// An operator's order; transitions it makes are told with the next reply. `hold` zero = no end.
  void obey(order what, duration hold, time_point now);
  /// Other settings, in place. Counts are dropped when their meaning has changed (window length, p99 limit).
  void configure(const settings& values, time_point now);

  /// Goes on from what another authority said last: its state and generation stand here from now on. Counts begin
  /// anew, unless the generation is the same.
  void adopt(const breaker::view& seen, time_point now);
  /// Counts without judging, for an authority that stands by while another one decides.
  void note(const batch& more, time_point now);

  breaker::state state() const { return state_; }
  std::uint64_t generation() const { return generation_; }
  const breaker::settings& settings() const { return settings_; }
  const breaker::window& window() const { return window_; }

 private:
  void advance(time_point reading, double random);
  void hear(const probe_report& said);
  void flush(const batch& more, double random);
  void judge_probes(cause failed, double random);
  cause judge(const batch& more);
  void trip(cause why, double random);

  void enter(breaker::state to, cause why);
  void open_for(duration stay);
  duration stay(double random) const;
  breaker::mode mode() const;
  void follow_mode(cause why);
  std::uint8_t ramp() const;
  breaker::view view();
  breaker::figures figures() const;

  breaker::scope scope_;
  breaker::settings settings_;
  monotone clock_;

  breaker::state state_ = breaker::state::closed;
  std::uint64_t generation_ = 0;
  time_point since_;
  time_point until_{};  // open: end of the stay
  cause last_cause_ = cause::none;
  std::uint32_t streak_ = 0;  // stays in open without proof of health between them
  std::uint64_t good_ = 0;    // successes since it closed
  bool ramping_ = false;      // closed by probes, not by word
  time_point quiet_until_{};  // observe mode: no second "would trip" before

  bool forced_ = false;    // open by the operator's word
  bool observed_ = false;  // observe mode by the operator's word
  time_point hold_until_ = time_point::max();

  share_test error_test_;
  share_test slow_test_;
  breaker::window window_;
  sequential outage_;
  connect_streak connects_;
  last_second offered_;
  breaker::probes probes_;
  std::uint64_t stale_ = 0;
  std::vector<transition> news_;
};

}  // namespace switchgear::breaker
