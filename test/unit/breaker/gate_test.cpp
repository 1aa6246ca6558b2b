// A gate that is closed or open, and its permits.
#include "unit/breaker/gate_scene.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace switchgear::breaker {
namespace {

TEST(closed_gate, counts_each_kind_of_call_once) {
  struct row {
    outcome how;
    counts seen;
    bool news;
  };
  for (const row& r :
       {row{good, {1, 0, 1, 0, 0}, false}, row{bad, {1, 1, 1, 0, 0}, true}, row{slow_good, {1, 0, 1, 1, 0}, true},
        row{slow_bad, {1, 1, 1, 1, 0}, true}, row{neutral, {0, 0, 0, 0, 0}, false},
        row{given_up, {0, 0, 1, 1, 0}, true}, row{{verdict::failure, false, true}, {1, 1, 1, 0, 1}, true}}) {
    scene on;
    EXPECT_EQ(on.ask().permit().settle(r.how, good), r.news);
    on.exchange();
    EXPECT_EQ(on.sent.batch.counts, r.seen);
    on.exchange();
    EXPECT_EQ(on.sent.batch.counts, counts{});
  }
}

TEST(closed_gate, counts_a_marked_call_as_slow_once_however_it_ends) {
  for (const outcome& end : {good, slow_good, neutral, given_up, bad, slow_bad}) {
    scene on;
    admission asked = on.ask();
    EXPECT_TRUE(asked.permit().mark_slow());
    EXPECT_FALSE(asked.permit().mark_slow());
    on.exchange();
    EXPECT_EQ(on.sent.batch.counts, (counts{0, 0, 1, 1, 0}));
    asked.permit().settle(end, good);
    on.exchange();
    EXPECT_EQ(on.sent.batch.counts.timed, 0u);
    EXPECT_EQ(on.sent.batch.counts.slow, 0u);
    EXPECT_EQ(on.sent.batch.counts.calls, end.verdict == verdict::neutral ? 0u : 1u);
    EXPECT_EQ(on.sent.batch.counts.failures, end.verdict == verdict::failure ? 1u : 0u);
  }
}

TEST(closed_gate, knows_which_failures_came_after_the_last_success_on_any_thread) {
  scene on;
  on.call(bad, 0), on.call(bad, 1), on.call(good, 0), on.call(bad, 1), on.call(bad, 0);
  on.exchange();
  EXPECT_EQ(on.sent.batch.counts.failures, 4u);
  EXPECT_EQ(on.sent.batch.trailing, 2u);
  on.call(bad, 1);
  on.exchange();
  EXPECT_EQ(on.sent.batch.trailing, 1u);  // of this report
  on.call(bad, 0), on.call(good, 1);
  on.exchange();
  EXPECT_EQ(on.sent.batch.trailing, 0u);
}

TEST(closed_gate, opens_after_nine_failures_after_a_good_history) {
  scene on;
  for (int i = 0; i < 1000; ++i) on.call(good, i % 2);
  for (int i = 0; i < 8; ++i) on.call(bad, i % 2), on.exchange();
  EXPECT_EQ(on.tool.state(), state::closed);
  on.call(bad), on.exchange();
  EXPECT_EQ(on.tool.state(), state::open);
}

TEST(permit, is_neutral_when_it_is_dropped) {
  scene on;
  {
    admission asked = on.ask();
  }
  on.exchange();
  EXPECT_EQ(on.sent.batch.counts, counts{});
}

TEST(permit, settles_once_when_moved_and_settled_again) {
  scene on;
  permit held = std::move(on.ask().permit());
  permit other = std::move(held);
  EXPECT_FALSE(held);
  EXPECT_TRUE(other);
  other.settle(bad, good);
  EXPECT_FALSE(other.settle(bad, good));
  EXPECT_FALSE(other.mark_slow());
  on.exchange();
  EXPECT_EQ(on.sent.batch.counts.failures, 1u);
}

TEST(permit, settles_what_it_held_when_another_is_moved_into_it) {
  scene on;
  on.ready_to_probe();
  permit held = std::move(on.ask().permit());
  ASSERT_TRUE(held.probe());
  held = permit();
  on.exchange();
  ASSERT_EQ(on.sent.probes.size(), 1u);
  EXPECT_EQ(on.sent.probes[0].fate, fate::neutral);
}

TEST(permit, of_an_earlier_generation_decides_nothing) {
  // given calls admitted while closed, in each later state
  scene on;
  std::vector<permit> late;
  for (int i = 0; i < 40; ++i) late.push_back(std::move(on.ask().permit()));
  on.open_tool();
  for (int i = 0; i < 10; ++i) late.back().settle(good, good), late.pop_back();
  on.exchange();
  EXPECT_EQ(on.tool.state(), state::open);
  on.now += 30s, on.ask(), on.exchange();
  ASSERT_EQ(on.tool.state(), state::half_open);

  // when they fail or succeed then
  for (int i = 0; i < 15; ++i) late.back().settle(bad, good), late.pop_back();
  on.exchange();

  // then they count as stale only
  EXPECT_EQ(on.tool.state(), state::half_open);
  EXPECT_EQ(on.tool.stale(), 25u);
  on.order_tool(order::close);
  for (int i = 0; i < 15; ++i) late.back().settle(bad, good), late.pop_back();
  on.exchange();
  EXPECT_EQ(on.tool.state(), state::closed);
  EXPECT_EQ(on.tool_reply.figures.counts, counts{});
  EXPECT_EQ(on.tool.stale(), 40u);
}

TEST(permit, of_an_earlier_generation_marked_slow_counts_nowhere) {
  scene on;
  admission asked = on.ask();
  on.order_tool(order::close);
  EXPECT_FALSE(asked.permit().mark_slow());
  asked.permit().settle(given_up, neutral);
  on.exchange();
  EXPECT_EQ(on.sent.batch.counts, counts{});
}

TEST(open_gate, refuses_with_state_since_and_retry_after) {
  scene on;
  on.open_tool();
  const time_point opened = on.now;
  on.now += 10s;
  const admission asked = on.ask();
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.refusal().gate, &on.tool);
  EXPECT_EQ(asked.refusal().why, refusal::reason::open);
  EXPECT_EQ(asked.refusal().state, state::open);
  EXPECT_EQ(asked.refusal().since, opened);
  EXPECT_EQ(asked.refusal().retry_after, 20s);
  EXPECT_EQ(asked.refusal().probe_wait, 0s);
  EXPECT_EQ(on.tool.refused(), 1u);
}

TEST(open_gate, says_that_waiting_pays_when_its_cooldown_is_over) {
  for (const auto wait : {0ms, 50ms, 200ms}) {
    settings values;
    values.probe_wait = wait;
    scene on(values);
    on.open_tool();
    on.now += 30s;
    EXPECT_EQ(on.ask().refusal().probe_wait, wait);
  }
}

TEST(open_gate, is_not_opened_by_refusals) {
  scene on;
  on.order_tool(order::open);
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(on.call(bad));
  on.exchange();
  EXPECT_EQ(on.sent.batch.counts, counts{});
  EXPECT_EQ(on.ask().refusal().why, refusal::reason::forced);
}

TEST(gate, ignores_a_view_of_an_older_generation) {
  scene on;
  const reply before = on.tool_reply;
  on.open_tool();
  on.tool.apply(before, on.now);
  EXPECT_EQ(on.tool.state(), state::open);
  EXPECT_EQ(on.tool.generation(), 1u);
}

TEST(gate, admits_everything_when_disabled_or_observing) {
  for (const mode lenient : {mode::observe, mode::disabled}) {
    settings values;
    values.mode = lenient;
    scene on(values);
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(on.call(bad));
    on.exchange();
    EXPECT_EQ(on.sent.batch.counts.calls, lenient == mode::observe ? 100u : 0u);
    EXPECT_TRUE(on.call(bad));
  }
}

TEST(gate, tells_the_p99_limit) {
  settings values;
  values.p99 = 300ms;
  scene on(values);
  EXPECT_EQ(on.ask().permit().slow_after(), 300ms);
  values.p99 = 0ms;
  on.tool.configure(values);
  EXPECT_EQ(on.tool.slow_after(), 0ms);
}

TEST(gate, keeps_the_lengths_of_calls_for_showing) {
  scene on;
  on.ask().permit().settle(good, good, 5ms);
  on.ask(1).permit().settle(bad, good, 5ms);
  EXPECT_EQ(on.tool.latency()[latency_bucket(5ms)], 2u);
}

}  // namespace
}  // namespace switchgear::breaker
