// Sees all of a fleet at once, and knows what must hold whatever happens (I1..I17).
#pragma once

#include "breaker/monotone.hpp"
#include "sim/fleet/gateway.hpp"
#include "sim/fleet/remote.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace switchgear::sim::fleet {

struct violation {
  unsigned invariant;
  std::string text;
};

/// A question as Redis was asked it.
struct asked {
  explicit asked(const peers::redis::command& words);

  std::string instance;
  std::uint64_t sequence;
  std::uint64_t generation;  // of the report
  peers::redis::standing known;
  breaker::counts counts;
  std::uint64_t offered;
  std::vector<breaker::probe_report> probes;
};

/// What Redis must be holding of a scope: as much of it as can be known from what was carried out, and in which order.
/// A plain value, so that a failover is an assignment.
struct truth {
  struct lease {
    std::string holder;
    time_point expires;
    bool used;
  };
  struct row {
    std::uint64_t generation = 0;
    time_point begun{};
    std::uint64_t calls = 0, failures = 0, timed = 0, slow = 0;
  };

  struct sender {
    std::uint64_t sequence = 0;
    time_point heard{};
  };

  std::optional<breaker::monotone> clock;  // none: it has no state, or none any more
  breaker::state state = breaker::state::closed;
  std::uint64_t generation = 0;
  time_point until{};         // open: not half open before
  time_point opened_truly{};  // by a clock that nobody sets
  duration stay{};
  bool leapt = false;  // Redis' clock was set ahead in this period
  bool exact = true;   // no key was deleted in this period

  std::map<std::string, sender> senders;     // by instance
  std::optional<time_point> looked_through;  // senders were, for those who are gone
  std::uint64_t counted = 0;                 // calls of this period
  time_point since{};
  std::map<std::uint64_t, lease> leases;
  std::uint32_t done = 0, failed = 0, slow = 0, neutral = 0;
  std::deque<time_point> issued;
  std::deque<std::pair<time_point, std::uint64_t>> offered;
  std::map<std::string, row> rows;  // who told what, by instance
};

class watcher {
 public:
  explicit watcher(const schedule& of) : settings_{of.tool, of.server} {}

  // What gateways do.
  void asked_leave(const member& from, bool admitted, bool probe);
  void probe_began(breaker::scope which, std::uint64_t generation);
  void probe_ended(breaker::scope which, std::uint64_t generation);
  void reported(member& from, const breaker::report& said);
  void told(const member& to, std::uint64_t generation_before, const breaker::reply& said, time_point truly);

  // What happens in Redis. `reading`: its clock; `truly`: one that nobody sets.
  void carried_out(breaker::scope which, const peers::redis::command& words, const peers::redis::receipt& said,
                   time_point reading, time_point truly);
  void window_is(breaker::scope which, const remote::sums& seen);
  void clock_set(duration by);
  void remember() { remembered_ = truths_; }
  void fail_over();
  void forget(breaker::scope which, bool state_only);

  /// At the end of a long time of health.
  void at_rest(const gateway& one, breaker::scope which, const member& seen);

  const truth& of(breaker::scope which) const { return truths_[index_of(which)]; }
  const std::optional<violation>& broken() const { return broken_; }
  void fail(unsigned invariant, std::string text);
  std::uint64_t transitions() const { return transitions_; }
  /// When Redis came to that generation first, by a clock that nobody sets.
  std::optional<time_point> entered(breaker::scope which, std::uint64_t generation) const;
  /// The longest time that a generation was there and a gateway that shared it did not know.
  duration longest_lag() const { return longest_lag_; }

 private:
  struct turn;  // one question being carried out
  bool expect(bool holds, unsigned invariant, const turn& at, const std::string& text);
  void join(turn& at);
  void expire(turn& at);
  void settle(turn& at);
  void count(turn& at);
  void grant(turn& at);
  void compare(turn& at);
  void look_through(turn& at);
  bool take(turn& at, std::initializer_list<breaker::cause> causes);
  void enter(turn& at, const breaker::transition& change);
  void check_quorum(turn& at, const breaker::transition& change);

  std::array<breaker::settings, 2> settings_;
  std::array<truth, 2> truths_, remembered_;
  // By generation: the states that Redis had under it; more than one only where a failover brought the past back.
  std::array<std::map<std::uint64_t, std::set<breaker::state>>, 2> history_;
  std::array<std::map<std::uint64_t, unsigned>, 2> probes_;       // running, by generation
  std::array<std::map<std::uint64_t, unsigned>, 2> lost_leases_;  // forgotten by Redis, by generation
  std::array<std::set<std::uint64_t>, 2> excused_;                // generations with a leap, or of gateways alone
  std::array<std::map<std::uint64_t, time_point>, 2> entered_;
  duration longest_lag_{};
  std::optional<violation> broken_;
  std::uint64_t transitions_ = 0;
};

}  // namespace switchgear::sim::fleet
