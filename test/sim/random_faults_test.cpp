// A million calls through gates and permits, with everything that may go wrong, under the eyes of a witness a scope.
#include "breaker/authority.hpp"
#include "breaker/permit.hpp"
#include "sim/dice.hpp"
#include "sim/witness.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <queue>
#include <vector>

namespace switchgear {
namespace {

using namespace std::chrono_literals;

constexpr unsigned stripes = 3;

struct scope_under_test {
  scope_under_test(std::string name, breaker::scope kind, const breaker::settings& values, time_point now)
      : gate(std::move(name), kind, stripes, values), truth(kind, values, now), seen(gate, truth) {}

  breaker::gate gate;
  breaker::authority truth;
  sim::witness seen;
};

/// How a tool behaves for a while.
struct mood {
  double failing, connect, cancelled, slow;
};
constexpr mood moods[] = {
    {0.01, 0, 0.02, 0.002}, {0.01, 0, 0.02, 0.002}, {1, 0, 0.05, 0},
    {0.3, 0, 0.02, 0},      {0.01, 0, 0.2, 0.5},    {1, 1, 0, 0},
};

struct running {
  time_point end;
  time_point slow_at;  // max = never, or marked already
  std::size_t tool;
  std::uint64_t generations[2];
  bool probes[2];
  breaker::verdict how;
  bool connect;
  bool dropped;
  std::shared_ptr<breaker::permit> permit;

  time_point next() const { return std::min(end, slow_at); }
  bool operator<(const running& other) const { return next() > other.next(); }  // earliest first
};

class world {
 public:
  explicit world(std::uint64_t seed) : dice_(seed) {
    breaker::settings quick, observing, disabled;
    quick.cooldown = 3s;
    quick.window = 10s;
    quick.max_cooldown = 20s;
    observing.mode = breaker::mode::observe;
    disabled.mode = breaker::mode::disabled;
    for (const auto& values : {breaker::settings{}, quick, observing, disabled}) {
      add("tool" + std::to_string(scopes_.size()), breaker::scope::tool, values);
    }
    add("server", breaker::scope::server, quick);
    flush();
  }

  void run(std::uint64_t calls) {
    time_point arrival = now_, mood_over = now_, order = now_ + 60s, step = now_ + 100s;
    while (calls_ < calls && !testing::Test::HasFailure()) {
      arrival = std::max(arrival, now_);
      const time_point event = running_.empty() ? time_point::max() : running_.top().next();
      now_ = std::min({arrival, event, next_flush_, mood_over, order, step});
      if (now_ == next_flush_) {
        flush();
      } else if (now_ == event) {
        go_on();
      } else if (now_ == mood_over) {
        for (mood& each : mood_) each = moods[dice_.below(std::size(moods))];
        mood_over = now_ + after(40s);
      } else if (now_ == order) {
        give_order();
        order = now_ + after(200s);
      } else if (now_ == step) {
        step_clock();
        step = now_ + after(300s);
      } else {
        call();
        arrival = now_ + after(10ms);
      }
    }
    while (!running_.empty()) {
      now_ = std::max(now_, running_.top().next());
      go_on();
    }
    flush();
  }

  void print() const {
    std::printf("%llu calls in %.1f simulated hours, %llu clock steps\n", static_cast<unsigned long long>(calls_),
                std::chrono::duration<double>(now_ - start).count() / 3600, static_cast<unsigned long long>(steps_));
    for (const auto& each : scopes_) {
      std::printf(
          "  %-7s %6llu transitions, closed by probes %4llu times, %6llu leases, %6llu stale results, %7llu refused\n",
          each->gate.name().c_str(), static_cast<unsigned long long>(each->seen.transitions()),
          static_cast<unsigned long long>(each->seen.closed_by_probes()),
          static_cast<unsigned long long>(each->seen.granted()), static_cast<unsigned long long>(each->gate.stale()),
          static_cast<unsigned long long>(each->gate.refused()));
    }
  }

  std::uint64_t calls() const { return calls_; }
  std::uint64_t settled() const { return settled_; }
  std::uint64_t admitted() const { return admitted_; }
  const scope_under_test& scope(std::size_t i) const { return *scopes_[i]; }

 private:
  static constexpr time_point start{1000h};

  void add(std::string name, breaker::scope kind, const breaker::settings& values) {
    scopes_.push_back(std::make_unique<scope_under_test>(std::move(name), kind, values, now_));
  }

  time_point clock() const { return now_ + offset_; }  // what a clock shows, steps and all
  duration after(duration mean) {
    return duration(1 + static_cast<std::int64_t>(dice_.exponential(static_cast<double>(mean.count()))));
  }
  scope_under_test& server() { return *scopes_.back(); }
  void soon() { next_flush_ = std::min(next_flush_, std::max(now_, last_flush_ + 10ms)); }

  void flush() {
    last_flush_ = now_;
    next_flush_ = now_ + 100ms;
    for (const auto& each : scopes_) exchange(*each);
    stepped_ = false;
  }

  void exchange(scope_under_test& with) {
    const breaker::report said = with.gate.collect(clock());
    with.seen.reported(said);
    if (server().gate.state() != breaker::state::closed && &with != &server()) with.seen.blocked(now_);
    const breaker::reply answer = with.truth.exchange(said, clock(), dice_.unit());
    with.gate.apply(answer, clock());
    with.seen.answered(answer, now_, stepped_);
  }

  void call() {
    ++calls_;
    const std::size_t which = dice_.below(scopes_.size() - 1);
    scope_under_test& tool = *scopes_[which];
    const auto stripe = static_cast<unsigned>(dice_.below(stripes));
    breaker::admission asked = breaker::acquire(tool.gate, server().gate, stripe, clock());
    const bool by_server = !asked && asked.refusal().gate == &server().gate;
    const bool tool_probe = asked && asked.permit().tool_probe();
    if (!by_server) tool.seen.asked(static_cast<bool>(asked), tool_probe);
    if (asked || by_server)
      server().seen.asked(static_cast<bool>(asked), asked && server_probe(asked.permit(), tool_probe));
    if (!asked) return soon();
    ++admitted_;
    if (asked.permit().probe()) soon();
    if (dice_.chance(0.01)) {  // another limit refuses it
      ++settled_;
      asked.permit().give_back();
      return;
    }
    begin(which, std::move(asked.permit()), tool_probe);
  }

  // A permit tells whether any of the two is a probe; of the server's it is the state that tells.
  bool server_probe(const breaker::permit& held, bool tool_probe) {
    return held.probe() && (!tool_probe || server().gate.state() == breaker::state::half_open);
  }

  void begin(std::size_t which, breaker::permit held, bool tool_probe) {
    const mood& present = mood_[which];
    running made;
    made.tool = which;
    made.generations[0] = held.tool_generation();
    made.generations[1] = held.server_generation();
    made.probes[0] = tool_probe;
    made.probes[1] = server_probe(held, tool_probe);
    made.how = dice_.chance(present.failing) ? breaker::verdict::failure : breaker::verdict::success;
    made.connect = made.how == breaker::verdict::failure && dice_.chance(present.connect);
    made.dropped = dice_.chance(present.cancelled);
    duration took = dice_.chance(present.slow) ? after(4s) : after(50ms);
    // A probe's call ends by its lease.
    if (held.probe()) took = std::min(took, std::max(held.lease_deadline() - clock(), duration(1)));
    made.end = now_ + took;
    const duration limit = held.slow_after();
    made.slow_at = limit > 0s ? now_ + limit : time_point::max();
    made.permit = std::make_shared<breaker::permit>(std::move(held));
    running_.push(std::move(made));
  }

  void go_on() {
    running it = running_.top();
    running_.pop();
    if (it.slow_at < it.end) {
      if (it.permit->mark_slow()) soon();
      it.slow_at = time_point::max();
      running_.push(std::move(it));
      return;
    }
    ++settled_;
    if (it.dropped) {
      it.permit.reset();
      return soon();
    }
    scope_under_test& tool = *scopes_[it.tool];
    const breaker::verdict at_server = it.connect ? it.how : breaker::verdict::success;
    const breaker::verdict at_tool = it.connect ? breaker::verdict::neutral : it.how;
    if (!it.probes[0]) tool.seen.ended(it.generations[0], at_tool);
    if (!it.probes[1]) server().seen.ended(it.generations[1], at_server);
    if (it.permit->settle({at_tool}, {at_server, false, it.connect})) soon();
    EXPECT_FALSE(it.permit->settle({at_tool}, {at_server}));  // I9: once
  }

  void give_order() {
    scope_under_test& whom = *scopes_[dice_.below(scopes_.size())];
    const auto what = static_cast<breaker::order>(dice_.below(4));
    exchange(whom);
    whom.truth.obey(what, dice_.chance(0.8) ? after(20s) : duration::zero(), clock());
    exchange(whom);
    if (what != breaker::order::automatic && dice_.chance(0.5)) {
      whom.truth.obey(breaker::order::automatic, 0s, clock());
      exchange(whom);
    }
  }

  // I13: a step back neither shortens a stay nor changes what is counted.
  void step_clock() {
    ++steps_;
    flush();
    const bool back = dice_.chance(0.5);
    std::vector<breaker::reply> before;
    for (const auto& each : scopes_) before.push_back(each->truth.sync(clock(), 0.5));
    offset_ += back ? -1h : 1h;
    stepped_ = true;
    if (back) {
      for (std::size_t i = 0; i < scopes_.size(); ++i) {
        const breaker::reply after = scopes_[i]->truth.sync(clock(), 0.5);
        EXPECT_EQ(after.view.generation, before[i].view.generation);
        EXPECT_EQ(after.view.retry_after, before[i].view.retry_after);
        EXPECT_EQ(after.figures.counts, before[i].figures.counts);
      }
    }
    flush();
    stepped_ = true;  // what it cut short shows at a later report
  }

  sim::dice dice_;
  time_point now_ = start;
  duration offset_{};
  bool stepped_ = false;
  std::vector<std::unique_ptr<scope_under_test>> scopes_;
  mood mood_[4] = {moods[0], moods[0], moods[0], moods[0]};
  std::priority_queue<running> running_;
  time_point next_flush_ = start;
  time_point last_flush_{};
  std::uint64_t calls_ = 0, admitted_ = 0, settled_ = 0, steps_ = 0;
};

TEST(a_million_calls, keep_every_invariant) {
  world all(sim::printed_seed("random faults"));
  all.run(1'000'000);
  all.print();
  EXPECT_EQ(all.calls(), 1'000'000u);
  EXPECT_EQ(all.settled(), all.admitted());  // I9
  // It was no idle walk.
  for (const std::size_t busy : {0, 1, 4}) {
    EXPECT_GT(all.scope(busy).seen.transitions(), 50u);
    EXPECT_GT(all.scope(busy).seen.closed_by_probes(), 5u);
    EXPECT_GT(all.scope(busy).gate.stale(), 0u);
  }
}

}  // namespace
}  // namespace switchgear
