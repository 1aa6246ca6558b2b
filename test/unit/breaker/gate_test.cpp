// A gate with its authority, one exchange at a time: what calls see.
#include "breaker/gate.hpp"

#include "breaker/authority.hpp"
#include "breaker/permit.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace switchgear::breaker {
namespace {

using namespace std::chrono_literals;

constexpr outcome good{verdict::success, false, false};
constexpr outcome bad{verdict::failure, false, false};
constexpr outcome slow_good{verdict::success, true, false};
constexpr outcome slow_bad{verdict::failure, true, false};
constexpr outcome neutral{verdict::neutral, false, false};
constexpr outcome given_up{verdict::neutral, true, false};

/// A tool and its server, each with an authority.
struct scene {
  explicit scene(const settings& values = {})
      : tool("search__query", scope::tool, 2, values),
        tool_truth(scope::tool, values, now),
        server_truth(scope::server, {}, now) {
    exchange();
  }

  void exchange() {
    tool_reply = tool_truth.exchange(sent = tool.collect(now), now, 0.5);
    tool.apply(tool_reply, now);
    server.apply(server_truth.exchange(server.collect(now), now, 0.5), now);
  }
  void order_tool(order what) {
    tool_truth.obey(what, 0s, now);
    exchange();
  }

  admission ask(unsigned stripe = 0) { return acquire(tool, server, stripe, now); }

  bool call(const outcome& how, unsigned stripe = 0) {
    admission asked = ask(stripe);
    if (!asked) return false;
    asked.permit().settle(how, good);
    return true;
  }
  void open_tool() {
    for (int i = 0; i < 9; ++i) call(bad);
    exchange();
  }
  /// Open, cooled down, and with a lease for one probe at hand.
  void ready_to_probe() {
    open_tool();
    now += 30s;
    ask();
    exchange();
  }

  time_point now{1h};
  gate tool;
  gate server{"server:search", scope::server, 2, {}};
  authority tool_truth;
  authority server_truth;
  report sent;
  reply tool_reply;
};

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

TEST(half_open_gate, admits_as_many_probes_as_it_has_leases) {
  scene on;
  on.ready_to_probe();
  admission first = on.ask();
  ASSERT_TRUE(first);
  EXPECT_TRUE(first.permit().probe());
  EXPECT_EQ(first.permit().lease_deadline(), on.now + 10s);
  const admission second = on.ask();
  EXPECT_FALSE(second);
  EXPECT_EQ(second.refusal().why, refusal::reason::half_open);
}

TEST(half_open_gate, gives_a_probe_no_longer_than_probe_timeout) {
  settings values;
  values.probe_timeout = 700ms;
  scene on(values);
  on.ready_to_probe();
  EXPECT_EQ(on.ask().permit().lease_deadline(), on.now + 700ms);
}

TEST(half_open_gate, closes_after_its_probes_passed_and_ramps) {
  scene on;
  on.ready_to_probe();
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(on.call(good)) << i;
    on.now += 1s;
    on.exchange();  // the call just made is demand enough for the next lease
  }
  ASSERT_EQ(on.tool.state(), state::closed);
  const auto admitted = [&on] {
    int count = 0;
    for (int i = 0; i < 100; ++i) count += on.call(good);
    return count;
  };
  EXPECT_EQ(admitted(), 25);
  on.ask();  // the one of four
  EXPECT_EQ(on.ask().refusal().why, refusal::reason::ramp);
  on.now += 2500ms, on.exchange();
  EXPECT_NEAR(admitted(), 50, 2);
  on.now += 2500ms, on.exchange();
  EXPECT_NEAR(admitted(), 75, 2);
  on.now += 2500ms, on.exchange();
  EXPECT_EQ(admitted(), 100);
}

TEST(half_open_gate, keeps_the_tools_lease_for_the_next_call_when_the_server_refuses) {
  scene on;
  on.ready_to_probe();
  on.server_truth.obey(order::open, 0s, on.now);
  on.exchange();
  const admission asked = on.ask();
  ASSERT_FALSE(asked);
  EXPECT_EQ(asked.refusal().gate, &on.server);
  EXPECT_TRUE(on.tool.probe_ready());
  on.server_truth.obey(order::close, 0s, on.now);
  on.exchange();
  EXPECT_TRUE(on.ask().permit().tool_probe());
}

TEST(half_open_gate, keeps_the_lease_when_the_call_was_not_made) {
  scene on;
  on.ready_to_probe();
  admission asked = on.ask();
  on.exchange();  // told as in use meanwhile
  asked.permit().give_back();
  EXPECT_TRUE(on.tool.probe_ready());
  on.now += 1s;
  on.exchange();
  EXPECT_EQ(on.sent.probes.at(0).fate, fate::unused);
  EXPECT_EQ(on.tool_reply.figures.probes_done, 0u);
}

TEST(half_open_gate, lets_no_lease_lie_about_for_long) {
  scene on;
  on.ready_to_probe();
  on.now += 1s;
  EXPECT_FALSE(on.ask());
  on.exchange();
  ASSERT_EQ(on.sent.probes.size(), 1u);
  EXPECT_EQ(on.sent.probes[0].fate, fate::unused);
}

TEST(half_open_gate, gives_its_leases_back_at_the_end) {
  scene on;
  on.ready_to_probe();
  const report last = on.tool.conclude(on.now);
  ASSERT_EQ(last.probes.size(), 1u);
  EXPECT_EQ(last.probes[0].fate, fate::unused);
  EXPECT_EQ(last.want, 0u);
  EXPECT_FALSE(on.tool.probe_ready());
  EXPECT_FALSE(on.ask());
}

TEST(half_open_gate, takes_leases_back_when_the_clock_was_set_back) {
  scene on;
  on.ready_to_probe();
  on.now -= 1h;
  on.exchange();
  ASSERT_EQ(on.sent.probes.size(), 1u);
  EXPECT_EQ(on.sent.probes[0].fate, fate::unused);
}

TEST(half_open_gate, reports_a_probe_in_use_before_its_end) {
  scene on;
  on.ready_to_probe();
  admission asked = on.ask();
  on.exchange();
  ASSERT_EQ(on.sent.probes.size(), 1u);
  EXPECT_EQ(on.sent.probes[0].fate, fate::used);
  on.exchange();
  EXPECT_TRUE(on.sent.probes.empty());
  asked.permit().settle(slow_good, good);
  on.exchange();
  EXPECT_EQ(on.sent.probes.at(0).fate, fate::success);
  EXPECT_TRUE(on.sent.probes[0].slow);
}

TEST(half_open_gate, lets_one_call_wait_at_a_time) {
  scene on;
  EXPECT_TRUE(on.tool.begin_wait());
  EXPECT_FALSE(on.tool.begin_wait());
  on.tool.end_wait();
  EXPECT_TRUE(on.tool.begin_wait());
}

TEST(half_open_gate, has_places_for_the_most_probes_that_may_be_set) {
  settings values;
  values.probes_in_flight = 50;
  values.probes_needed = 100;
  values.probe_share = 0.25;
  scene on(values);
  on.open_tool();
  on.now += 30s;
  for (int i = 0; i < 1000; ++i) on.ask();
  on.exchange();
  std::vector<permit> held;
  for (int i = 0; i < 60; ++i) {
    admission asked = on.ask(i % 2);
    if (asked) held.push_back(std::move(asked.permit()));
  }
  EXPECT_EQ(held.size(), 50u);
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
