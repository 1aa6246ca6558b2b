// T2 to T5: from open back to closed, and each knob of the way.
#include "unit/breaker/driven_authority.hpp"

#include <gtest/gtest.h>

namespace switchgear::breaker {
namespace {

using namespace std::chrono_literals;

duration first_stay(const settings& values, double random = 0.5) {
  driven_authority at(values);
  at.random = random;
  return at.calls(0, 9).view.retry_after;
}

TEST(open_breaker, waits_for_its_cooldown) {
  driven_authority at;
  at.calls(0, 9);
  EXPECT_EQ(at.last.view.retry_after, 30s);
  at.now += 30s - 1ms;
  at.ask(1);
  EXPECT_EQ(at.state(), state::open);
  EXPECT_TRUE(at.leases.empty());
  at.now += 1ms;
  at.ask(1);
  EXPECT_EQ(at.state(), state::half_open);
  EXPECT_EQ(at.why(), cause::cooldown_over);
  EXPECT_EQ(at.leases.size(), 1u);
}

TEST(open_breaker, stays_open_when_nobody_asks) {
  driven_authority at;
  at.calls(0, 9);
  at.wait(1h);
  EXPECT_EQ(at.state(), state::open);
}

TEST(open_breaker, obeys_cooldown_and_jitter) {
  settings values;
  values.cooldown = 7s;
  EXPECT_EQ(first_stay(values), 7s);
  EXPECT_EQ(first_stay(values, 0.0), 6300ms);
  EXPECT_NEAR(static_cast<double>(first_stay(values, 0.999999).count()), 7.7e9, 1e5);
  values.jitter = 0;
  EXPECT_EQ(first_stay(values, 0.0), 7s);
  values.jitter = 0.5;
  EXPECT_EQ(first_stay(values, 0.0), 3500ms);
}

TEST(open_breaker, stays_longer_each_time_up_to_max_cooldown) {
  const auto stays = [](const settings& values) {
    driven_authority at(values);
    at.calls(0, 9);
    std::vector<std::int64_t> seconds;
    for (int round = 0; round < 5; ++round) {
      seconds.push_back(at.last.view.retry_after / 1s);
      at.now += at.last.view.retry_after;
      at.probes(3, fate::failure);
      EXPECT_EQ(at.why(), cause::probes_failed);
    }
    return seconds;
  };
  settings values;
  EXPECT_EQ(stays(values), (std::vector<std::int64_t>{30, 45, 67, 101, 151}));
  values.growth = 1;
  EXPECT_EQ(stays(values), (std::vector<std::int64_t>{30, 30, 30, 30, 30}));
  values.growth = 3;
  EXPECT_EQ(stays(values), (std::vector<std::int64_t>{30, 90, 270, 300, 300}));
  values.max_cooldown = 100s;
  EXPECT_EQ(stays(values), (std::vector<std::int64_t>{30, 90, 100, 100, 100}));
}

TEST(open_breaker, forgets_its_growth_after_minimum_calls_good_results_only) {
  const auto stay_after = [](std::uint64_t good) {
    driven_authority at;
    at.open_and_cooled();
    at.probes(10, fate::success);
    EXPECT_EQ(at.state(), state::closed);
    at.wait(1h);
    at.calls(good, 0);
    return at.calls(0, 9).view.retry_after;
  };
  EXPECT_EQ(stay_after(19), 45s);
  EXPECT_EQ(stay_after(20), 30s);
}

TEST(open_breaker, ignores_outcomes) {
  driven_authority at;
  at.calls(0, 9);
  const auto generation = at.generation;
  at.calls(1000, 0);
  at.calls(0, 1000);
  EXPECT_EQ(at.state(), state::open);
  EXPECT_EQ(at.generation, generation);
  EXPECT_EQ(at.last.figures.counts, counts{});
  EXPECT_EQ(at.last.figures.stale, 2000u);
}

TEST(half_open_breaker, closes_after_enough_good_probes) {
  driven_authority at;
  at.open_and_cooled();
  at.probes(9, fate::success);
  EXPECT_EQ(at.state(), state::half_open);
  at.probes(1, fate::success);
  EXPECT_EQ(at.state(), state::closed);
  EXPECT_EQ(at.why(), cause::probes_passed);
}

TEST(half_open_breaker, obeys_probes_needed) {
  settings values;
  values.probes_needed = 4;
  driven_authority at(values);
  at.open_and_cooled();
  at.probes(3, fate::success);
  EXPECT_EQ(at.state(), state::half_open);
  at.probes(1, fate::success);
  EXPECT_EQ(at.state(), state::closed);
}

TEST(half_open_breaker, bears_as_many_failures_as_allowed) {
  for (const std::uint32_t allowed : {0u, 2u, 5u}) {
    settings values;
    values.probe_failures_allowed = allowed;
    driven_authority at(values);
    at.open_and_cooled();
    at.probes(allowed, fate::failure);
    EXPECT_EQ(at.state(), allowed == 0 ? state::open : state::half_open) << allowed;
    at.probes(1, fate::failure);
    EXPECT_EQ(at.state(), state::open) << allowed;
    EXPECT_EQ(at.why(), cause::probes_failed);
  }
}

TEST(half_open_breaker, closes_in_spite_of_the_failures_it_bears) {
  driven_authority at;
  at.open_and_cooled();
  at.probes(2, fate::failure);
  at.probes(8, fate::success);
  EXPECT_EQ(at.state(), state::closed);
}

TEST(half_open_breaker, takes_slow_probes_like_failed_ones) {
  driven_authority at;
  at.open_and_cooled();
  at.probes(3, fate::success, true);
  EXPECT_EQ(at.state(), state::open);
}

TEST(half_open_breaker, has_no_more_probes_in_flight_than_allowed) {
  for (const std::uint32_t cap : {1u, 3u, 7u}) {
    settings values;
    values.probes_in_flight = cap;
    driven_authority at(values);
    at.open_and_cooled();
    at.ask(50, 10'000);
    EXPECT_EQ(at.leases.size(), cap);
    EXPECT_EQ(at.last.view.next_lease, duration::max());
    at.settle(fate::success);
    at.ask(50, 10'000);
    EXPECT_EQ(at.leases.size(), cap);
  }
}

TEST(half_open_breaker, gives_no_more_leases_than_it_needs_results) {
  settings values;
  values.probes_needed = 3;
  values.probes_in_flight = 50;
  driven_authority at(values);
  at.open_and_cooled();
  at.ask(50, 10'000);
  EXPECT_EQ(at.leases.size(), 3u);
}

TEST(half_open_breaker, obeys_probe_share) {
  const auto in_a_second = [](double share, std::uint64_t offered) {
    settings values;
    values.probe_share = share;
    values.probes_in_flight = 50;
    values.probes_needed = 100;
    driven_authority at(values);
    at.open_and_cooled();
    at.ask(50, offered);
    return at.leases.size();
  };
  EXPECT_EQ(in_a_second(0.10, 100), 10u);
  EXPECT_EQ(in_a_second(0.10, 101), 11u);
  EXPECT_EQ(in_a_second(0.20, 100), 20u);
  EXPECT_EQ(in_a_second(0.01, 3), 1u);  // one at least
}

TEST(half_open_breaker, counts_its_share_over_any_second) {
  driven_authority at;
  at.open_and_cooled();
  EXPECT_TRUE(at.probe(fate::success));
  at.now += 999ms;
  EXPECT_EQ(at.wait(0ms).view.next_lease, 1ms);
  EXPECT_FALSE(at.probe(fate::success));
  at.now += 1ms;
  EXPECT_TRUE(at.probe(fate::success));
}

TEST(half_open_breaker, stays_half_open_without_traffic) {
  driven_authority at;
  at.open_and_cooled();
  at.probe(fate::success);
  at.wait(24h);
  EXPECT_EQ(at.state(), state::half_open);
}

TEST(half_open_breaker, takes_back_the_place_of_an_unused_lease) {
  driven_authority at;
  at.open_and_cooled();
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(at.probe(fate::unused));
    at.now += 1s;
  }
  EXPECT_EQ(at.last.figures.probes_done, 0u);
  EXPECT_EQ(at.last.figures.probes_in_flight, 0u);
}

TEST(half_open_breaker, counts_neutral_probes_as_good_after_the_third) {
  driven_authority at;
  at.open_and_cooled();
  at.probes(3, fate::neutral);
  EXPECT_EQ(at.last.figures.probes_done, 0u);
  at.probes(10, fate::neutral);
  EXPECT_EQ(at.state(), state::closed);
}

TEST(half_open_breaker, fails_a_used_probe_that_is_not_settled_in_time) {
  settings values;
  values.probe_timeout = 2s;
  values.probe_failures_allowed = 0;
  driven_authority at(values);
  at.open_and_cooled();
  at.ask(1);
  EXPECT_EQ(at.leases.back().result_within, probes::use_within + 2s);
  report said;
  said.probes.push_back({at.leases.back().token, fate::used, false});
  at.say(said);
  at.wait(probes::use_within + 2s);
  EXPECT_EQ(at.state(), state::half_open);
  at.wait(probes::grace);
  EXPECT_EQ(at.state(), state::open);
  EXPECT_EQ(at.why(), cause::probe_lost);
}

TEST(half_open_breaker, forgets_a_lease_whose_holder_vanished) {
  driven_authority at;
  at.open_and_cooled();
  at.ask(3, 1000);
  EXPECT_EQ(at.last.figures.probes_in_flight, 3u);
  at.wait(12s);
  EXPECT_EQ(at.last.figures.probes_in_flight, 0u);
  EXPECT_EQ(at.last.figures.probes_failed, 0u);
  at.leases.clear();
  EXPECT_TRUE(at.probe(fate::success));
}

TEST(half_open_breaker, ignores_results_of_another_generation_or_unknown_token) {
  driven_authority at;
  at.open_and_cooled();
  at.ask(1);
  report unknown;
  unknown.probes.push_back({12345, fate::failure, false});
  for (int i = 0; i < 5; ++i) at.say(unknown);
  report late;
  late.generation = at.generation - 1;
  late.probes.assign(5, {at.leases.back().token, fate::failure, false});
  at.breaker.exchange(late, at.now, 0.5);
  EXPECT_EQ(at.wait(0ms).view.state, state::half_open);
  EXPECT_EQ(at.last.figures.probes_done, 0u);
  EXPECT_EQ(at.last.figures.stale, 10u);
}

TEST(half_open_breaker, ignores_late_results_of_closed_times) {
  driven_authority at;
  at.open_and_cooled();
  at.ask(1);
  at.calls(1000, 0);
  at.calls(0, 1000);
  EXPECT_EQ(at.state(), state::half_open);
}

TEST(closed_again_breaker, ramps_up_in_four_steps) {
  settings values;
  values.ramp = 10s;
  driven_authority at(values);
  at.open_and_cooled();
  at.probes(10, fate::success);
  std::vector<int> quarters;
  for (int i = 0; i < 5; ++i) quarters.push_back(at.wait(i == 0 ? 0ms : 2500ms).view.ramp);
  EXPECT_EQ(quarters, (std::vector<int>{1, 2, 3, 0, 0}));
}

TEST(closed_again_breaker, does_not_ramp_when_ramp_is_zero) {
  settings values;
  values.ramp = 0s;
  driven_authority at(values);
  at.open_and_cooled();
  at.probes(10, fate::success);
  EXPECT_EQ(at.last.view.ramp, 0);
  EXPECT_FALSE(at.last.view.watch);
}

TEST(closed_again_breaker, stops_a_ramp_when_the_settings_no_longer_have_one) {
  // given
  settings values;
  values.ramp = 10s;
  driven_authority at(values);
  at.open_and_cooled();
  at.probes(10, fate::success);
  // when
  values.ramp = 0s;
  at.breaker.configure(values, at.now);
  // then
  EXPECT_EQ(at.wait(1s).view.ramp, 0);
}

TEST(closed_again_breaker, starts_with_an_empty_window) {
  driven_authority at;
  at.open_and_cooled();
  at.probes(10, fate::success);
  EXPECT_EQ(at.last.figures.counts, counts{});
  at.calls(0, 8);
  EXPECT_EQ(at.state(), state::closed);
}

TEST(every_transition, raises_the_generation_by_one_and_is_told_once) {
  driven_authority at;
  at.open_and_cooled();
  at.probes(3, fate::failure);
  at.now += at.last.view.retry_after;
  at.probes(10, fate::success);
  ASSERT_EQ(at.news.size(), 5u);
  const state path[] = {state::closed, state::open, state::half_open, state::open, state::half_open, state::closed};
  for (std::size_t i = 0; i < at.news.size(); ++i) {
    EXPECT_EQ(at.news[i].from, path[i]);
    EXPECT_EQ(at.news[i].to, path[i + 1]);
    EXPECT_EQ(at.news[i].generation, i + 1);
  }
}

// RC-010: minimum 10, threshold 50 %.
settings volume_gate() {
  settings values;
  values.minimum_calls = 10;
  values.error_rate = 0.5;
  values.window = 10s;
  values.certainty.reset();
  values.outage_threshold = 0;
  values.probes_needed = 1;
  values.probe_failures_allowed = 0;
  values.growth = 1;
  values.jitter = 0;
  values.cooldown = 5s;
  return values;
}

TEST(rc_010, a_single_failure_in_an_idle_window_does_not_open) {
  driven_authority at(volume_gate());
  at.calls(0, 1);
  EXPECT_EQ(at.state(), state::closed);
}

TEST(rc_010, failures_that_left_the_window_do_not_count) {
  driven_authority at(volume_gate());
  at.calls(0, 9);
  at.wait(10s);
  at.calls(0, 1);
  EXPECT_EQ(at.state(), state::closed);
}

TEST(rc_010, a_failed_probe_opens_again_however_low_the_volume_and_a_good_one_closes) {
  // given an open breaker, and a pause longer than the window
  driven_authority at(volume_gate());
  at.calls(0, 10);
  ASSERT_EQ(at.state(), state::open);
  at.now += 15s;

  for (int round = 0; round < 10; ++round) {
    // when one probe fails
    ASSERT_TRUE(at.probe(fate::failure)) << round;

    // then the stay starts anew, and lasts no longer than it should
    ASSERT_EQ(at.state(), state::open) << round;
    EXPECT_EQ(at.last.view.retry_after, 5s);
    at.now += 5s - 1ms;
    EXPECT_FALSE(at.probe(fate::failure)) << round;
    at.now += 101ms;  // and one tick
  }

  // and a good one closes
  ASSERT_TRUE(at.probe(fate::success));
  EXPECT_EQ(at.state(), state::closed);
}

}  // namespace
}  // namespace switchgear::breaker
