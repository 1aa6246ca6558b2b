// Watches one scope from outside and knows what must hold, whatever happens.
#pragma once

#include "breaker/authority.hpp"
#include "breaker/gate.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <map>

namespace switchgear::sim {

/// Told of every admission, outcome and exchange of one scope; fails the running test when something does not hold.
class witness {
 public:
  witness(const breaker::gate& gate, const breaker::authority& truth) : gate_(gate), truth_(truth) {}

  /// I5, I17: what a gate may do in which state.
  void asked(bool admitted, bool probe) {
    if (view_.mode != breaker::mode::enforce) {
      EXPECT_TRUE(admitted) << gate_.name();  // I17
    } else if (view_.state == breaker::state::open) {
      EXPECT_FALSE(admitted) << gate_.name();  // I5, and I17 when forced
    } else if (view_.state == breaker::state::half_open) {
      EXPECT_EQ(admitted, probe) << gate_.name();
    }
  }

  /// A call that no probe's lease admitted has ended. Only those of the present generation count.
  void ended(std::uint64_t generation, breaker::verdict how) {
    if (generation != gate_.generation() || how == breaker::verdict::neutral || view_.mode == breaker::mode::disabled)
      return;
    ++expected_.calls;
    if (how == breaker::verdict::failure) ++expected_.failures;
  }

  /// What the replica reports, just collected; I2, I8, I9.
  void reported(const breaker::report& said) {
    EXPECT_EQ(said.generation, view_.generation);
    EXPECT_EQ(said.batch.counts.calls, expected_.calls) << gate_.name();
    EXPECT_EQ(said.batch.counts.failures, expected_.failures) << gate_.name();
    EXPECT_LE(said.batch.counts.slow, said.batch.counts.timed);
    EXPECT_LE(said.batch.trailing, said.batch.counts.failures);
    expected_ = {};
    for (const breaker::probe_report& probe : said.probes) {
      const auto found = leases_.find(probe.token);
      ASSERT_NE(found, leases_.end()) << "a token nobody gave, or settled twice";
      if (probe.fate == breaker::fate::used) {
        EXPECT_FALSE(found->second) << "used twice";
        found->second = true;
        continue;
      }
      if (probe.fate != breaker::fate::unused) ++settled_;
      leases_.erase(found);
      const bool again =
          probe.fate == breaker::fate::neutral && !probe.slow && neutral_++ < breaker::probes::neutral_allowed;
      if (probe.fate == breaker::fate::unused || again) continue;
      ++results_;
      if (probe.fate == breaker::fate::failure) ++failures_;
      if (probe.slow) ++slow_;
    }
  }

  /// What came back; `truly` is time as it really passed, `stepped` says that the clock jumped since the last time.
  void answered(const breaker::reply& said, time_point truly, bool stepped) {
    EXPECT_EQ(truth_.window().total(), truth_.window().recount());  // I7
    EXPECT_LT(truth_.window().total().calls, std::uint64_t{1} << 40);
    EXPECT_LE(said.figures.probes_in_flight, truth_.settings().probes_in_flight);  // I1
    EXPECT_LE(said.figures.probes_done, truth_.settings().probes_needed);
    jumped_ |= stepped;
    for (const breaker::transition& change : said.transitions) changed(change);
    EXPECT_EQ(said.view.generation, generation_);  // I4: every change was told
    EXPECT_GE(said.view.generation, view_.generation);

    // I12: with calls that come and get through, no state but closed lasts.
    if (said.view.generation != view_.generation || said.view.forced) since_ = truly;
    const breaker::settings& s = truth_.settings();
    const duration in_state = truly - since_;
    if (said.view.state == breaker::state::open && !said.view.forced) {
      EXPECT_LE(in_state, s.max_cooldown * 3 / 2 + std::chrono::seconds(2)) << gate_.name();
    } else if (said.view.state == breaker::state::half_open) {
      EXPECT_LE(in_state, s.probes_needed * (s.probe_timeout + std::chrono::seconds(2))) << gate_.name();
    }

    for (const breaker::lease& granted : said.leases) {
      EXPECT_TRUE(leases_.emplace(granted.token, false).second);
      ++granted_;
    }
    view_ = said.view;
  }

  /// No call gets through for another reason: its probes can make no progress.
  void blocked(time_point truly) { since_ = truly; }

  std::uint64_t granted() const { return granted_; }
  std::uint64_t settled() const { return settled_; }
  std::uint64_t transitions() const { return generation_; }
  std::uint64_t closed_by_probes() const { return closed_by_probes_; }

 private:
  void changed(const breaker::transition& change) {
    using breaker::cause;
    using breaker::state;
    if (change.would_be) return;
    EXPECT_EQ(change.generation, generation_ + 1);  // I4
    EXPECT_EQ(change.from, state_);
    const bool by_word = change.cause >= cause::operator_open;
    switch (change.to) {
      case state::closed:  // I3
        if (by_word) break;
        ++closed_by_probes_;
        EXPECT_EQ(change.from, state::half_open);
        if (jumped_) break;  // leases ran out early, and the authority counted them without us
        EXPECT_GE(results_, truth_.settings().probes_needed);
        EXPECT_LE(failures_, truth_.settings().probe_failures_allowed);
        EXPECT_LE(slow_, truth_.settings().probe_failures_allowed);
        break;
      case state::half_open:  // I5: only time or a word
        EXPECT_TRUE(by_word || (change.from == state::open && change.cause == cause::cooldown_over));
        break;
      case state::open:
        EXPECT_TRUE(by_word || change.from != state::open);
        // I9: a probe in use is always settled in time, unless the clock jumped over its end.
        if (change.cause == cause::probe_lost) {
          EXPECT_TRUE(jumped_) << gate_.name();
        }
        break;
    }
    generation_ = change.generation;
    state_ = change.to;
    leases_.clear();  // void with their generation
    results_ = failures_ = slow_ = neutral_ = 0;
    jumped_ = false;
  }

  const breaker::gate& gate_;
  const breaker::authority& truth_;
  breaker::view view_;
  breaker::counts expected_;
  std::map<std::uint64_t, bool> leases_;  // token -> in use
  breaker::state state_ = breaker::state::closed;
  std::uint64_t generation_ = 0;
  time_point since_{};
  bool jumped_ = false;  // the clock did, in this generation
  std::uint32_t results_ = 0, failures_ = 0, slow_ = 0, neutral_ = 0;
  std::uint64_t granted_ = 0, settled_ = 0, closed_by_probes_ = 0;
};

}  // namespace switchgear::sim
