#include "async/timer_wheel.hpp"

#include "async/interrupt.hpp"
#include "async/worker.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

namespace switchgear::async {
namespace {

using namespace std::chrono_literals;

struct probe final : timer_node {
  std::function<void()> action;
  void fire() override { action(); }
};

TEST(timer_wheel, fires_after_the_moment_and_soon) {
  worker on(0);
  probe node;
  const time_point start = worker::now();
  time_point fired{};
  node.action = [&] { fired = worker::now(); };
  on.timers.arm(node, start + 20ms);
  on.io.run();
  EXPECT_GE(fired - start, 20ms);
  EXPECT_LT(fired - start, 20ms + 10 * timer_wheel::tick);
}

TEST(timer_wheel, does_not_fire_a_node_that_was_taken_back) {
  worker on(0);
  probe node;
  bool fired = false;
  node.action = [&] { fired = true; };
  on.timers.arm(node, worker::now() + 5ms);
  node.disarm();
  on.io.run();
  EXPECT_FALSE(fired);
}

TEST(timer_wheel, lets_the_loop_end_when_nothing_is_armed) {
  worker on(0);
  probe node;
  node.action = [] {};
  on.timers.arm(node, worker::now());
  on.io.run();
  EXPECT_TRUE(on.io.stopped());
}

TEST(timer_wheel, fires_in_the_order_of_slots_what_lies_more_than_a_turn_apart) {
  worker on(0);
  probe near, far;
  std::vector<int> order;
  near.action = [&] { order.push_back(1); };
  far.action = [&] { order.push_back(2); };
  const time_point start = worker::now();
  on.timers.arm(far, start + 4200ms);  // beyond one turn of 512 * 8 ms
  on.timers.arm(near, start + 104ms);
  on.io.run();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_GE(worker::now() - start, 4200ms);
}

TEST(timer_wheel, survives_a_node_that_destroys_another_due_one) {
  worker on(0);
  auto victim = std::make_unique<probe>();
  probe killer;
  bool victim_fired = false;
  victim->action = [&] { victim_fired = true; };
  killer.action = [&] { victim.reset(); };
  const time_point due = worker::now() + 5ms;
  on.timers.arm(killer, due);
  on.timers.arm(*victim, due);
  on.io.run();
  EXPECT_FALSE(victim_fired);
}

TEST(timer_wheel, takes_a_node_that_arms_itself_again) {
  worker on(0);
  probe node;
  int times = 0;
  node.action = [&] {
    if (++times < 3) on.timers.arm(node, worker::now());
  };
  on.timers.arm(node, worker::now());
  on.io.run();
  EXPECT_EQ(times, 3);
}

TEST(interrupt, marks_slow_first_and_raises_at_the_deadline) {
  worker on(0);
  interrupt call(on.timers);
  int slow = 0;
  interrupt::reason at_slow = interrupt::reason::deadline;
  struct context {
    interrupt& call;
    int& slow;
    interrupt::reason& at_slow;
  } seen{call, slow, at_slow};
  call.arm(
      worker::now() + 40ms, worker::now() + 10ms,
      [](void* raw) {
        auto& all = *static_cast<context*>(raw);
        ++all.slow;
        all.at_slow = all.call.why();
      },
      &seen);
  on.io.run();
  EXPECT_EQ(slow, 1);
  EXPECT_EQ(at_slow, interrupt::reason::none);
  EXPECT_EQ(call.why(), interrupt::reason::deadline);
}

TEST(interrupt, stops_the_innermost_wait_and_keeps_the_first_reason) {
  worker on(0);
  interrupt call(on.timers);
  int outer = 0;
  int inner = 0;
  const auto count = [](void* raw) { ++*static_cast<int*>(raw); };
  const interrupt::guard first(call, count, &outer);
  {
    const interrupt::guard second(call, count, &inner);
    call.raise(interrupt::reason::cancelled);
  }
  call.raise(interrupt::reason::shutdown);
  EXPECT_EQ(outer, 0);
  EXPECT_EQ(inner, 1);
  EXPECT_EQ(call.why(), interrupt::reason::cancelled);
}

TEST(interrupt, goes_back_to_the_outer_wait_when_the_inner_one_has_ended) {
  worker on(0);
  interrupt call(on.timers);
  int outer = 0;
  int inner = 0;
  const auto count = [](void* raw) { ++*static_cast<int*>(raw); };
  const interrupt::guard first(call, count, &outer);
  {
    const interrupt::guard second(call, count, &inner);
  }
  call.raise(interrupt::reason::cancelled);
  EXPECT_EQ(outer, 1);
  EXPECT_EQ(inner, 0);
}

}  // namespace
}  // namespace switchgear::async
