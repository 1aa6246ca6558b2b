#include "sim/board/pair.hpp"
#include "sim/dice.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <optional>
#include <utility>

namespace switchgear::sim {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

breaker::settings random_settings(dice& random) {
  const auto one_of = [&](auto... choices) {
    const decltype((choices + ...)) all[] = {choices...};
    return all[random.below(sizeof...(choices))];
  };
  breaker::settings s;
  s.mode = random.chance(0.8) ? breaker::mode::enforce : static_cast<breaker::mode>(random.below(3));
  s.error_rate = one_of(0.05, 0.15, 0.5);
  s.window = std::chrono::seconds(one_of(10, 60, 61));
  s.minimum_calls = static_cast<std::uint32_t>(one_of(5, 20, 200));
  if (random.chance(0.4)) s.certainty = std::nullopt;
  if (random.chance(0.2)) s.certainty = 0.999;
  s.outage_threshold = one_of(0.0, 5.0, 14.3);
  s.p99 = std::chrono::milliseconds(one_of(0, 200, 1500));
  s.cooldown = std::chrono::milliseconds(one_of(1000, 3000, 30000));
  s.max_cooldown = s.cooldown * one_of(1, 10);
  s.probes_in_flight = static_cast<std::uint32_t>(one_of(1, 3, 7));
  s.probes_needed = static_cast<std::uint32_t>(one_of(1, 4, 10));
  s.probe_failures_allowed = std::min(s.probes_needed - 1, static_cast<std::uint32_t>(one_of(0, 2)));
  s.probe_timeout = std::chrono::milliseconds(one_of(500, 10000));
  s.ramp = std::chrono::seconds(one_of(0, 4, 10));
  return s;
}

/// Plays two replicas against one scope: calls, probes, orders, other settings, and a clock that steps.
class player {
 public:
  player(redis_connection& redis, std::uint64_t seed, std::string name)
      : random_(seed),
        values_(random_settings(random_)),
        scopes_(redis, std::move(name), random_.chance(0.5) ? breaker::scope::server : breaker::scope::tool, values_,
                now_) {}

  void step_once() {
    if (std::exchange(begun_, true)) pass_time();  // both come to be at the first exchange
    step next;
    next.instance = random_.chance(0.5) ? "a" : "b";
    next.entry.settings = &values_;
    if (random_.chance(0.001)) {
      values_ = random_settings(random_);
      next.put_settings = true;
      ++events_;
    }
    if (random_.chance(0.003)) next.entry.ordered = order();
    next.entry.said = report(next.instance);
    next.at = now_;
    next.random = random_.unit();
    const breaker::reply said = scopes_.run(next);
    state_ = said.view.state;
    transitions_ += said.transitions.size();
    for (const breaker::lease& each : said.leases) held_.push_back({next.instance, each.token});
    if (held_.size() > 40) held_.pop_front();  // its holder crashed
  }

  std::string difference() { return scopes_.difference(); }
  std::uint64_t events() const { return events_; }
  std::uint64_t transitions() const { return transitions_; }

 private:
  struct holding {
    std::string instance;
    std::uint64_t token;
  };

  void pass_time() {
    const double kind = random_.unit();
    if (kind < 0.9) {
      now_ += microseconds(random_.below(200'000));
    } else if (kind < 0.985) {
      now_ += microseconds(random_.below(8'000'000));
    } else if (kind < 0.992) {
      now_ += microseconds(random_.below(90'000'000));
    } else if (kind < 0.997) {
      now_ -= microseconds(random_.below(900'000));
    } else {
      now_ += random_.chance(0.5) ? -1h : 1h;
    }
    if (random_.chance(0.01)) health_ = random_.chance(0.5) ? 0.98 : random_.unit();
  }

  port::board_entry::command order() {
    ++events_;
    return {static_cast<breaker::order>(random_.below(4)),
            random_.chance(0.5) ? duration::zero() : duration(microseconds(random_.below(20'000'000)))};
  }

  breaker::report report(const std::string& instance) {
    breaker::report said;
    const bool late = random_.chance(0.02) && scopes_.generation() > 0;
    said.generation = late ? scopes_.generation() - 1 : scopes_.generation();
    if (state_ == breaker::state::closed || random_.chance(0.05)) said.batch = batch();
    if (state_ != breaker::state::closed) {
      said.offered = random_.below(30);
      said.want = static_cast<std::uint32_t>(random_.below(8));
      for (auto each = held_.begin(); each != held_.end();) {
        if (each->instance != instance || !random_.chance(0.4)) {
          ++each;
          continue;
        }
        const auto fate = static_cast<breaker::fate>(random_.below(5));
        const bool ends = fate != breaker::fate::used;
        const bool good = random_.chance(health_);
        said.probes.push_back({each->token,
                               ends && fate == breaker::fate::failure && good ? breaker::fate::success : fate,
                               ends && random_.chance(0.05)});
        ++events_;
        each = ends && random_.chance(0.95) ? held_.erase(each) : std::next(each);  // else it says it once more
      }
    }
    return said;
  }

  breaker::batch batch() {
    breaker::batch made;
    made.counts.calls = random_.chance(0.3) ? 0 : random_.below(random_.chance(0.1) ? 400 : 12);
    for (std::uint64_t i = 0; i < made.counts.calls; ++i) {
      const bool failed = !random_.chance(health_);
      made.counts.failures += failed;
      made.trailing = failed ? made.trailing + 1 : 0;
      if (failed && random_.chance(0.5)) ++made.counts.connects;
    }
    made.counts.timed = made.counts.calls + random_.below(2);
    made.counts.slow = random_.chance(0.9) ? 0 : random_.below(made.counts.timed + 1);
    events_ += made.counts.calls;
    return made;
  }

  dice random_;
  time_point now_{std::chrono::hours(480'000)};
  breaker::settings values_;
  pair scopes_;
  breaker::state state_ = breaker::state::closed;
  double health_ = 0.98;
  std::deque<holding> held_;
  bool begun_ = false;
  std::uint64_t events_ = 0;
  std::uint64_t transitions_ = 0;
};

std::uint64_t steps_wanted() {
  const char* const given = std::getenv("SWITCHGEAR_AGREEMENT_STEPS");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 120'000;
}

TEST(the_two_authorities, agree_after_each_of_a_million_random_events) {
  // given
  test::redis_server server;
  redis_connection redis(server.socket());
  load_library(redis);
  constexpr std::uint64_t steps_a_scope = 2'000, steps_a_round = 200;
  std::uint64_t events = 0, transitions = 0, steps = 0;

  for (std::uint64_t seed = 1; steps < steps_wanted(); ++seed) {
    player scope(redis, seed, "alias" + std::to_string(seed % 7) + "__tool" + std::to_string(seed));
    for (std::uint64_t done = 0; done < steps_a_scope; done += steps_a_round) {
      // when
      for (std::uint64_t i = 0; i < steps_a_round; ++i) scope.step_once();
      steps += steps_a_round;
      // then
      const std::string found = scope.difference();
      ASSERT_EQ(found, "") << "seed " << seed;
    }
    events += scope.events();
    transitions += scope.transitions();
  }
  std::cout << steps << " exchanges, " << events << " events, " << transitions << " transitions: no difference\n";
  EXPECT_GT(transitions, steps / 200);
}

}  // namespace
}  // namespace switchgear::sim
