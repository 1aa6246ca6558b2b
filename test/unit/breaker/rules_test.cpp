// T1: each rule that opens a breaker, and each knob of it.
#include "unit/breaker/driven_authority.hpp"

#include <gtest/gtest.h>

namespace switchgear::breaker {
namespace {

using namespace std::chrono_literals;

settings without_outage_rule() {
  settings values;
  values.outage_threshold = 0;
  return values;
}

// The fewest failures of n calls that open a fresh breaker.
std::uint64_t failures_to_open(const settings& values, std::uint64_t n) {
  for (std::uint64_t bad = 1; bad <= n; ++bad) {
    driven_authority at(values);
    if (at.mixed(n - bad, bad).view.state == state::open) return bad;
  }
  return n + 1;
}

std::uint64_t slow_to_open(const settings& values, std::uint64_t n) {
  for (std::uint64_t slow = 1; slow <= n; ++slow) {
    driven_authority at(values);
    if (at.calls(n, 0, slow).view.state == state::open) return slow;
  }
  return n + 1;
}

TEST(error_rate_rule, opens_when_the_window_is_surely_over_the_limit) {
  driven_authority at(without_outage_rule());
  at.mixed(80, 20);
  EXPECT_EQ(at.state(), state::closed);  // 20 % of 100 may still be luck
  at.mixed(60, 40);
  EXPECT_EQ(at.state(), state::open);
  EXPECT_EQ(at.why(), cause::error_rate);
}

TEST(error_rate_rule, obeys_error_rate) {
  settings low = without_outage_rule(), high = low;
  low.error_rate = 0.05;
  high.error_rate = 0.30;
  EXPECT_LT(failures_to_open(low, 200), failures_to_open(without_outage_rule(), 200));
  EXPECT_LT(failures_to_open(without_outage_rule(), 200), failures_to_open(high, 200));
}

TEST(error_rate_rule, obeys_certainty) {
  settings surer = without_outage_rule(), plain = surer;
  surer.certainty = 0.999999;
  plain.certainty.reset();
  EXPECT_EQ(failures_to_open(plain, 100), 15u);
  EXPECT_GT(failures_to_open(without_outage_rule(), 100), 15u);
  EXPECT_GT(failures_to_open(surer, 100), failures_to_open(without_outage_rule(), 100));
}

TEST(error_rate_rule, obeys_minimum_calls) {
  settings values = without_outage_rule();
  EXPECT_EQ(failures_to_open(values, 19), 20u);  // never
  EXPECT_LE(failures_to_open(values, 20), 20u);
  values.minimum_calls = 50;
  EXPECT_EQ(failures_to_open(values, 49), 50u);
  EXPECT_LE(failures_to_open(values, 50), 50u);
}

TEST(error_rate_rule, obeys_window) {
  const auto opens_after_pause = [](duration window, duration pause) {
    settings values = without_outage_rule();
    values.window = window;
    driven_authority at(values);
    at.mixed(0, 15);
    at.wait(pause);
    at.mixed(0, 15);
    return at.state() == state::open;
  };
  EXPECT_TRUE(opens_after_pause(60s, 59s));
  EXPECT_FALSE(opens_after_pause(60s, 60s));
  EXPECT_FALSE(opens_after_pause(30s, 31s));
  EXPECT_TRUE(opens_after_pause(300s, 299s));
}

TEST(error_rate_rule, says_how_many_failures_would_trip) {
  driven_authority at(without_outage_rule());
  at.mixed(100, 0);
  const std::uint64_t needed = at.last.figures.failures_to_trip;
  EXPECT_EQ(needed, failures_to_open(without_outage_rule(), 100));
  at.mixed(0, 1);
  EXPECT_EQ(at.last.figures.counts.failures, 1u);
}

TEST(outage_rule, opens_after_nine_failures_whatever_stood_before) {
  for (const std::uint64_t history : {0u, 1u, 20u, 1000u, 1'000'000u}) {
    driven_authority at;
    at.calls(history, 0);
    for (int failed = 1; failed <= 9; ++failed) {
      EXPECT_EQ(at.state(), state::closed) << failed << " after " << history;
      at.calls(0, 1);
    }
    EXPECT_EQ(at.state(), state::open) << history;
    EXPECT_EQ(at.why(), cause::outage);
  }
}

TEST(outage_rule, opens_as_soon_when_all_comes_in_one_report) {
  driven_authority at;
  at.calls(5000, 8);
  EXPECT_EQ(at.state(), state::closed);
  at.calls(0, 1);
  EXPECT_EQ(at.state(), state::open);
}

TEST(outage_rule, does_not_take_the_scattered_failures_of_a_large_report_for_a_run) {
  driven_authority at;
  for (int report = 0; report < 100; ++report) at.mixed(9500, 500);
  EXPECT_EQ(at.state(), state::closed);
}

TEST(outage_rule, obeys_outage_threshold) {
  const auto failures = [](double threshold) {
    settings values;
    values.outage_threshold = threshold;
    values.minimum_calls = 10'000;
    driven_authority at(values);
    int count = 0;
    while (at.state() == state::closed && count < 100) at.calls(0, 1), ++count;
    return count;
  };
  EXPECT_EQ(failures(14.3), 9);
  EXPECT_EQ(failures(12), 8);
  EXPECT_EQ(failures(10), 6);
  EXPECT_EQ(failures(50), 30);
  EXPECT_EQ(failures(0), 100);  // off
}

TEST(outage_rule, obeys_outage_rate) {
  // given half of the calls failing, in small reports
  const auto opens = [](double rate) {
    settings values;
    values.outage_rate = rate;
    values.minimum_calls = 10'000;
    driven_authority at(values);
    for (int i = 0; i < 60 && at.state() == state::closed; ++i) at.mixed(1, 1);
    return at.state() == state::open;
  };
  // then it is an outage to one that looks for 50 %, and less so to one that looks for 99 %
  EXPECT_TRUE(opens(0.5));
  EXPECT_FALSE(opens(0.99));
}

TEST(p99_rule, opens_when_too_many_calls_are_slow) {
  driven_authority at;
  at.calls(1000, 0, 15);
  EXPECT_EQ(at.state(), state::closed);
  at.calls(1000, 0, 40);
  EXPECT_EQ(at.state(), state::open);
  EXPECT_EQ(at.why(), cause::p99);
}

TEST(p99_rule, counts_calls_that_ended_without_an_outcome) {
  // given calls whose clients gave up after the limit: timed, but neither good nor bad
  driven_authority at;
  report said;
  said.batch.counts = {0, 0, 30, 30, 0};
  at.say(said);
  EXPECT_EQ(at.why(), cause::p99);
}

TEST(p99_rule, obeys_certainty_and_minimum_calls) {
  settings surer, plain, later;
  surer.certainty = 0.999999;
  plain.certainty.reset();
  later.minimum_calls = 200;
  EXPECT_EQ(slow_to_open(plain, 100), 2u);
  EXPECT_LT(slow_to_open({}, 100), slow_to_open(surer, 100));
  EXPECT_EQ(slow_to_open(later, 199), 200u);
  EXPECT_LE(slow_to_open(later, 200), 199u);
  EXPECT_EQ(slow_to_open({}, 19), 20u);
}

TEST(p99_rule, is_off_without_a_limit) {
  settings off;
  off.p99 = 0ms;
  driven_authority at(off);
  at.calls(1000, 0, 1000);
  EXPECT_EQ(at.state(), state::closed);
  EXPECT_EQ(at.last.figures.slow_to_trip, 0u);
}

report connect_failures(std::uint64_t count) {
  report said;
  said.batch = {{count, count, count, 0, count}, count};
  return said;
}

TEST(connect_rule, opens_a_server_after_five_connect_failures_in_two_seconds) {
  driven_authority at({}, scope::server);
  for (int i = 0; i < 4; ++i) at.say(connect_failures(1)), at.now += 400ms;
  EXPECT_EQ(at.state(), state::closed);
  at.say(connect_failures(1));
  EXPECT_EQ(at.why(), cause::unreachable);
}

TEST(connect_rule, leaves_slow_trickles_to_the_other_rules) {
  driven_authority at({}, scope::server);
  for (int i = 0; i < 8; ++i) at.say(connect_failures(1)), at.now += 600ms;
  EXPECT_EQ(at.state(), state::closed);
  at.say(connect_failures(1));
  EXPECT_EQ(at.why(), cause::outage);
}

TEST(connect_rule, starts_again_after_a_success) {
  driven_authority at({}, scope::server);
  at.say(connect_failures(4));
  at.calls(1, 0);
  at.say(connect_failures(1));
  EXPECT_EQ(at.state(), state::closed);
}

TEST(connect_rule, is_the_servers_alone) {
  driven_authority at({}, scope::tool);
  at.say(connect_failures(8));
  EXPECT_EQ(at.state(), state::closed);
}

TEST(connect_rule, does_not_count_other_failures) {
  driven_authority at({}, scope::server);
  at.calls(0, 8);
  EXPECT_EQ(at.state(), state::closed);
}

TEST(observe_mode, says_that_it_would_trip_once_a_cooldown_and_stays_closed) {
  settings values;
  values.mode = mode::observe;
  driven_authority at(values);
  at.calls(0, 9);
  EXPECT_EQ(at.state(), state::closed);
  ASSERT_EQ(at.news.size(), 1u);
  EXPECT_TRUE(at.news[0].would_be);
  EXPECT_EQ(at.news[0].cause, cause::outage);
  EXPECT_EQ(at.news[0].generation, 0u);
  at.now += 29s, at.calls(0, 9);
  EXPECT_EQ(at.news.size(), 1u);
  at.now += 1s, at.calls(0, 9);
  EXPECT_EQ(at.news.size(), 2u);
}

TEST(disabled_mode, counts_nothing) {
  settings values;
  values.mode = mode::disabled;
  driven_authority at(values);
  at.calls(0, 1000);
  EXPECT_EQ(at.state(), state::closed);
  EXPECT_EQ(at.last.figures.counts, counts{});
}

}  // namespace
}  // namespace switchgear::breaker
