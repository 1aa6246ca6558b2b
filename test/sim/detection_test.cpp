// How soon trouble is noticed, at the cadence of the real flusher.
#include "sim/dice.hpp"
#include "sim/replica.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

namespace switchgear {
namespace {

using namespace std::chrono_literals;

struct trouble {
  double calls_per_second;
  double failing = 0;
  double slow = 0;
  double slow_before = 0;
};

struct detection {
  double median = 0, p95 = 0;                   // seconds
  breaker::cause cause = breaker::cause::none;  // of most runs
};

// Five minutes of health, then the trouble, until it trips.
detection detect(const trouble& t, double certainty, std::uint64_t seed) {
  constexpr int runs = 101;
  breaker::settings values;
  values.certainty = certainty;
  std::vector<double> seconds;
  std::map<breaker::cause, int> causes;
  detection found;
  for (int run = 0; run < runs; ++run) {
    sim::dice dice(seed + static_cast<std::uint64_t>(run));
    const time_point start(1h), turn = start + 5min;
    sim::replica replica(breaker::scope::tool, values, start, dice);
    time_point now = start;
    while (replica.trips().empty() && now < turn + 1h) {
      now += duration(static_cast<std::int64_t>(dice.exponential(1e9 / t.calls_per_second)));
      const bool sick = now >= turn;
      const bool failed = sick && dice.chance(t.failing);
      replica.call(now, {failed ? breaker::verdict::failure : breaker::verdict::success,
                         dice.chance(sick ? t.slow : t.slow_before)});
    }
    if (replica.trips().empty()) return found;
    seconds.push_back(std::chrono::duration<double>(replica.trips().front().at - turn).count());
    const breaker::cause cause = replica.trips().front().cause;
    if (++causes[cause] > causes[found.cause]) found.cause = cause;
  }
  std::sort(seconds.begin(), seconds.end());
  found.median = seconds[runs / 2];
  found.p95 = seconds[runs * 95 / 100];
  return found;
}

TEST(total_outage, opens_after_nine_failed_calls_whatever_stood_before) {
  for (const double rate : {0.33, 10.0, 100.0, 1000.0}) {
    for (const int history : {0, 100, 100'000}) {
      sim::dice dice(1);
      const time_point start(1h);
      const duration gap(static_cast<std::int64_t>(1e9 / rate));
      sim::replica replica(breaker::scope::tool, {}, start, dice);
      time_point now = start;
      for (int i = 0; i < history; ++i) replica.call(now += gap, {breaker::verdict::success});
      int failed = 0;
      const time_point turn = now;
      while (replica.state() == breaker::state::closed && failed < 100) {
        replica.call(now += gap, {breaker::verdict::failure});
        ++failed;
      }
      // The trip is seen by the next call after the report of the ninth, at most 10 ms later.
      ASSERT_FALSE(replica.trips().empty());
      const double seconds = std::chrono::duration<double>(replica.trips().front().at - turn).count();
      EXPECT_EQ(replica.trips().front().cause, breaker::cause::outage);
      EXPECT_GE(seconds, 9 / rate - 1e-6);
      EXPECT_LE(seconds, 9 / rate + 0.0101);
      if (history == 100'000) std::printf("total outage at %6.2f calls/s: open after %7.3f s\n", rate, seconds);
    }
  }
}

TEST(slow_calls, are_noticed_in_the_time_of_the_study) {
  struct row {
    trouble what;
    double median;
  };
  // The study judged once a second with a chance of one in a million a look, from a share of 0.5 % before. A certainty
  // of 99.9992 % for a window is the same chance a look; the default asks for
  // less and is sooner.
  std::printf("%-32s %14s %26s %26s\n", "slow share jumps to", "study median", "99.9992 %: median (p95)",
              "default 99.99 %: median (p95)");
  const std::uint64_t seed = sim::printed_seed("detection");
  for (const row& r : {row{{5, 0, 0.20}, 13}, row{{5, 0, 1.0}, 3}, row{{17, 0, 0.05}, 35}, row{{17, 0, 0.20}, 8},
                       row{{167, 0, 0.05}, 14}, row{{167, 0, 0.20}, 3}, row{{167, 0, 1.0}, 1}}) {
    trouble what = r.what;
    what.slow_before = 0.005;
    const detection same = detect(what, 0.999992, seed), usual = detect(what, 0.9999, seed);
    std::printf("%3.0f %% at %4.0f calls/s %27.1f %18.2f (%5.2f) %18.2f (%5.2f)\n", what.slow * 100,
                what.calls_per_second, r.median, same.median, same.p95, usual.median, usual.p95);
    EXPECT_EQ(usual.cause, breaker::cause::p99);
    EXPECT_LE(usual.median, same.median);
    // Whole seconds of a look are worth half a second on average.
    EXPECT_NEAR(same.median, r.median, 0.2 * r.median + 0.5);
  }
}

TEST(raised_error_rates, are_noticed_by_the_rule_that_should) {
  const std::uint64_t seed = sim::printed_seed("detection");
  for (const trouble& t : {trouble{100, 0.30}, trouble{10, 0.30}, trouble{100, 0.80}, trouble{10, 0.80}}) {
    const detection found = detect(t, 0.9999, seed);
    std::printf("%3.0f %% errors at %4.0f calls/s: %6.2f s (p95 %6.2f) by %s\n", t.failing * 100, t.calls_per_second,
                found.median, found.p95, std::string(name(found.cause)).c_str());
    EXPECT_GT(found.median, 0);
    EXPECT_EQ(found.cause, t.failing > 0.5 ? breaker::cause::outage : breaker::cause::error_rate);
  }
}

}  // namespace
}  // namespace switchgear
