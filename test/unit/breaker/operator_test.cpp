// T6: what an operator may say, and settings that change while it runs.
#include "unit/breaker/driven_authority.hpp"

#include <gtest/gtest.h>

namespace switchgear::breaker {
namespace {

using namespace std::chrono_literals;

TEST(forced_open_breaker, gives_no_lease_and_stays_until_told_otherwise) {
  driven_authority at;
  at.breaker.obey(order::open, 0s, at.now);
  at.say({});
  EXPECT_EQ(at.state(), state::open);
  EXPECT_TRUE(at.last.view.forced);
  EXPECT_EQ(at.why(), cause::operator_open);
  at.wait(24h);
  at.ask(5);
  EXPECT_EQ(at.state(), state::open);
  EXPECT_TRUE(at.leases.empty());
}

TEST(forced_open_breaker, comes_back_through_probes_when_its_time_is_over) {
  driven_authority at;
  at.breaker.obey(order::open, 10min, at.now);
  at.say({});
  EXPECT_TRUE(at.last.view.watch);
  EXPECT_EQ(at.last.view.retry_after, 10min);
  at.wait(10min - 1ms);
  EXPECT_EQ(at.state(), state::open);
  at.wait(1ms);
  EXPECT_EQ(at.state(), state::half_open);
  EXPECT_EQ(at.why(), cause::hold_over);
  EXPECT_FALSE(at.last.view.forced);
}

TEST(forced_open_breaker, comes_back_through_probes_on_auto) {
  driven_authority at;
  at.breaker.obey(order::open, 0s, at.now);
  at.breaker.obey(order::automatic, 0s, at.now);
  at.say({});
  EXPECT_EQ(at.state(), state::half_open);
  at.probes(10, fate::success);
  EXPECT_EQ(at.state(), state::closed);
}

TEST(forced_open_breaker, refuses_even_where_the_breaker_is_disabled) {
  settings values;
  values.mode = mode::disabled;
  driven_authority at(values);
  at.breaker.obey(order::open, 1min, at.now);
  at.say({});
  EXPECT_EQ(at.last.view.mode, mode::enforce);
  at.wait(1min);
  EXPECT_EQ(at.state(), state::closed);
  EXPECT_EQ(at.last.view.mode, mode::disabled);
}

TEST(close_order, closes_at_once_with_an_empty_window_and_no_ramp) {
  driven_authority at;
  at.calls(0, 9);
  at.breaker.obey(order::close, 0s, at.now);
  at.say({});
  EXPECT_EQ(at.state(), state::closed);
  EXPECT_EQ(at.last.view.ramp, 0);
  EXPECT_EQ(at.last.view.mode, mode::enforce);
  at.calls(0, 9);
  EXPECT_EQ(at.state(), state::open);
  EXPECT_EQ(at.last.view.retry_after, 30s);  // its growth is forgotten
}

TEST(close_order, keeps_it_closed_for_the_given_time) {
  driven_authority at;
  at.breaker.obey(order::close, 10min, at.now);
  at.say({});
  at.calls(0, 100);
  EXPECT_EQ(at.state(), state::closed);
  at.wait(10min);
  at.calls(0, 9);
  EXPECT_EQ(at.state(), state::open);
}

TEST(observe_order, admits_everything_until_told_otherwise) {
  driven_authority at;
  at.calls(0, 9);
  at.breaker.obey(order::observe, 0s, at.now);
  at.say({});
  EXPECT_EQ(at.state(), state::closed);
  EXPECT_EQ(at.last.view.mode, mode::observe);
  EXPECT_EQ(at.why(), cause::operator_observe);
  at.calls(0, 100);
  EXPECT_EQ(at.state(), state::closed);
  at.breaker.obey(order::automatic, 0s, at.now);
  EXPECT_EQ(at.say({}).view.mode, mode::enforce);
}

TEST(auto_order, changes_nothing_where_nothing_was_ordered) {
  driven_authority at;
  at.calls(0, 9);
  at.breaker.obey(order::automatic, 0s, at.now);
  at.say({});
  EXPECT_EQ(at.state(), state::open);
  EXPECT_EQ(at.generation, 1u);
}

TEST(new_settings, apply_without_losing_the_state) {
  driven_authority at;
  at.calls(0, 9);
  settings values;
  values.cooldown = 5s;
  at.breaker.configure(values, at.now);
  EXPECT_EQ(at.say({}).view.state, state::open);
  EXPECT_EQ(at.generation, 1u);
}

TEST(new_settings, drop_counts_that_meant_something_else) {
  driven_authority at;
  at.calls(50, 1);
  settings values;
  values.error_rate = 0.2;
  at.breaker.configure(values, at.now);
  EXPECT_EQ(at.say({}).figures.counts.calls, 51u);
  values.p99 = 100ms;
  at.breaker.configure(values, at.now);
  EXPECT_EQ(at.say({}).figures.counts.calls, 0u);
}

TEST(new_settings, close_a_breaker_that_is_no_longer_to_refuse) {
  for (const mode other : {mode::observe, mode::disabled}) {
    driven_authority at;
    at.calls(0, 9);
    settings values;
    values.mode = other;
    at.breaker.configure(values, at.now);
    at.say({});
    EXPECT_EQ(at.state(), state::closed);
    EXPECT_EQ(at.why(), cause::settings);
    EXPECT_EQ(at.generation, 2u);
  }
}

TEST(stepped_clock, set_back_never_shortens_a_stay_nor_stops_it) {
  driven_authority at;
  at.calls(0, 9);
  at.now += 10s, at.say({});
  at.now -= 1h;
  EXPECT_EQ(at.say({}).view.retry_after, 20s);
  at.wait(19s);
  at.ask(1);
  EXPECT_EQ(at.state(), state::open);
  at.wait(1s);
  at.ask(1);
  EXPECT_EQ(at.state(), state::half_open);
}

TEST(stepped_clock, set_ahead_at_worst_starts_probing_early) {
  driven_authority at;
  at.calls(0, 9);
  at.now += 1h;
  at.ask(1);
  EXPECT_EQ(at.state(), state::half_open);
  at.now -= 1h;
  at.settle(fate::success);
  at.now += 1s;
  at.probes(9, fate::success);
  EXPECT_EQ(at.state(), state::closed);
}

TEST(stepped_clock, does_not_change_what_stands_in_the_window_when_set_back) {
  driven_authority at;
  at.calls(100, 1);
  at.now -= 1h;
  for (int i = 0; i < 60; ++i) at.say({});
  EXPECT_EQ(at.last.figures.counts.calls, 101u);
  at.wait(59s);
  EXPECT_EQ(at.last.figures.counts.calls, 101u);
  at.wait(1s);
  EXPECT_EQ(at.last.figures.counts.calls, 0u);
}

}  // namespace
}  // namespace switchgear::breaker
