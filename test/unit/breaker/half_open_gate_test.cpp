// A half-open gate: its probes, their leases, and the ramp after them.
#include "unit/breaker/gate_scene.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

namespace switchgear::breaker {
namespace {

void expect_one_probe(const report& sent, fate how) {
  ASSERT_EQ(sent.probes.size(), 1u);
  EXPECT_EQ(sent.probes[0].fate, how);
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
  expect_one_probe(on.sent, fate::unused);
}

TEST(half_open_gate, gives_its_leases_back_at_the_end) {
  scene on;
  on.ready_to_probe();
  const report last = on.tool.conclude(on.now);
  expect_one_probe(last, fate::unused);
  EXPECT_EQ(last.want, 0u);
  EXPECT_FALSE(on.tool.probe_ready());
  EXPECT_FALSE(on.ask());
}

TEST(half_open_gate, takes_leases_back_when_the_clock_was_set_back) {
  scene on;
  on.ready_to_probe();
  on.now -= 1h;
  on.exchange();
  expect_one_probe(on.sent, fate::unused);
}

TEST(half_open_gate, reports_a_probe_in_use_before_its_end) {
  scene on;
  on.ready_to_probe();
  admission asked = on.ask();
  on.exchange();
  expect_one_probe(on.sent, fate::used);
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

}  // namespace
}  // namespace switchgear::breaker
