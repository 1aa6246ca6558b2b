// How often a healthy tool is taken off line: whole days of traffic at a constant true rate.
#include "sim/dice.hpp"
#include "sim/replica.hpp"

#include <gtest/gtest.h>

#include <cstdio>

namespace switchgear {
namespace {

using namespace std::chrono_literals;

struct traffic {
  double calls_per_second;
  double failing = 0;  // true share of failures
  double slow = 0;     // true share of slow calls
  int days = 1;
};

double trips_per_day(const traffic& t, std::optional<double> certainty, std::uint64_t seed) {
  breaker::settings values;
  values.certainty = certainty;
  sim::dice dice(seed);
  const time_point start(1h), end = start + t.days * 24h;
  sim::replica replica(breaker::scope::tool, values, start, dice);
  const double mean_gap = 1e9 / t.calls_per_second;
  for (time_point now = start; now < end; now += duration(static_cast<std::int64_t>(dice.exponential(mean_gap)))) {
    const bool failed = dice.chance(t.failing);
    replica.call(now, {failed ? breaker::verdict::failure : breaker::verdict::success, dice.chance(t.slow), false});
  }
  return static_cast<double>(replica.trips().size()) / t.days;
}

double shown(const char* what, const traffic& t, std::uint64_t seed) {
  const double certain = trips_per_day(t, 0.9999, seed), plain = trips_per_day(t, std::nullopt, seed);
  std::printf("%-44s  certainty 99.99%%: %5.1f   none: %7.1f   false trips a day (%d days)\n", what, certain, plain,
              t.days);
  return certain;
}

TEST(healthy_tool, is_not_taken_off_line_at_a_true_error_rate_under_the_limit) {
  const std::uint64_t seed = sim::printed_seed("false trips");
  EXPECT_LE(shown("5 % errors, 100 calls/s", {100, 0.05}, seed), 1);
  EXPECT_LE(shown("5 % errors, 20 calls a minute", {20.0 / 60, 0.05}, seed), 1);
  EXPECT_LE(shown("14 % errors, 100 calls/s", {100, 0.14, 0, 10}, seed), 1);
}

TEST(healthy_tool, is_not_taken_off_line_with_its_p99_on_the_limit) {
  const std::uint64_t seed = sim::printed_seed("false trips");
  EXPECT_LE(shown("p99 on the limit, 100 calls/s", {100, 0, 0.01}, seed), 1);
  EXPECT_LE(shown("p99 on the limit, 20 calls a minute", {20.0 / 60, 0, 0.01}, seed), 1);
  EXPECT_LE(shown("p99 on the limit, 17 calls/s", {17, 0, 0.01, 10}, seed), 1);
  EXPECT_LE(shown("p99 on the limit, 100 calls/s", {100, 0, 0.01, 10}, seed), 1);
}

}  // namespace
}  // namespace switchgear
