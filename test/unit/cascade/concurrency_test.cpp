#include "cascade/concurrency.hpp"

#include "cascade/limit_gradient.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace switchgear::cascade {
namespace {

using namespace std::chrono_literals;

TEST(a_wait_for_a_slot, leaves_time_for_the_answer) {
  const concurrency_policy policy{.queue_timeout = 100ms};
  EXPECT_EQ(longest_wait(policy, 10s, 1s), 100ms);
  EXPECT_EQ(longest_wait(policy, 1030ms, 1s), 30ms);
  EXPECT_LE(longest_wait(policy, 1s, 1s), 0s);
  EXPECT_LE(longest_wait(policy, 900ms, 1s), 0s);
}

TEST(a_wait_for_a_slot, leaves_the_least_time_of_all_calls_when_nothing_is_known_of_these) {
  const concurrency_policy policy{.queue_timeout = 100ms};
  EXPECT_EQ(longest_wait(policy, 50ms, 0s), 50ms - machine::minimum_left);
  EXPECT_LE(longest_wait(policy, machine::minimum_left, 1ms), 0s);
}

TEST(a_queue, has_a_quarter_of_the_limit_unless_it_is_set) {
  concurrency_policy policy;
  EXPECT_EQ(policy.queue_at(64), 16u);
  EXPECT_EQ(policy.queue_at(1), 1u);
  policy.queue = 0;
  EXPECT_EQ(policy.queue_at(64), 0u);
}

TEST(a_share, is_a_part_of_the_limit_and_one_call_at_least) {
  concurrency_policy policy;
  EXPECT_EQ(policy.share_at(64), 64u);
  policy.principal_share = 0.25;
  EXPECT_EQ(policy.share_at(64), 16u);
  EXPECT_EQ(policy.share_at(3), 1u);
}

TEST(a_limit, is_none_a_number_or_adaptive_within_bounds) {
  concurrency_policy policy;
  EXPECT_FALSE(policy.limits());
  policy.limit = 5;
  EXPECT_TRUE(policy.limits() && !policy.adaptive());
  EXPECT_EQ(policy.first_limit(), 5u);
  policy.limit.reset();
  EXPECT_TRUE(policy.limits() && policy.adaptive());
  EXPECT_EQ(policy.first_limit(), concurrency_policy::adaptive_start);
  policy.most = 8;
  EXPECT_EQ(policy.first_limit(), 8u);
  policy.most = 1000;
  policy.least = 30;
  EXPECT_EQ(policy.first_limit(), 30u);
}

TEST(a_window, has_the_geometric_mean_of_what_was_answered) {
  limit_tally tally;
  EXPECT_EQ(tally.answered(1ms, 3), 1u);
  EXPECT_EQ(tally.answered(100ms, 7), 2u);
  EXPECT_EQ(tally.timed_out(5), 3u);
  EXPECT_EQ(tally.size(), 3u);

  const limit_window seen = tally.take();

  EXPECT_EQ(seen.answered, 2u);
  EXPECT_EQ(seen.timed_out, 1u);
  EXPECT_EQ(seen.peak, 7u);
  EXPECT_NEAR(static_cast<double>(seen.typical.count()), 10e6, 0.01e6);
  EXPECT_EQ(tally.size(), 0u);
  EXPECT_EQ(tally.take().typical, 0s);
}

TEST(a_window, is_counted_by_several_threads_without_a_loss) {
  limit_tally tally;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < 10'000; ++call) tally.answered(5ms, 1);
    });
  }
  for (std::thread& each : threads) each.join();
  const limit_window seen = tally.take();
  EXPECT_EQ(seen.answered, 40'000u);
  EXPECT_NEAR(static_cast<double>(seen.typical.count()), 5e6, 0.01e6);
}

limit_window used(unsigned limit, duration typical) {
  return {.answered = 100, .peak = limit, .typical = typical};
}

TEST(a_gradient, grows_while_calls_are_as_fast_as_before) {
  limit_gradient gradient(4, 1000, 20);
  for (int i = 0; i < 4; ++i) {
    const unsigned before = gradient.limit();
    gradient.update(used(before, 10ms));
    EXPECT_GT(gradient.limit(), before);
  }
  EXPECT_EQ(gradient.base(), 10ms);
}

TEST(a_gradient, shrinks_by_the_ratio_and_by_half_at_most) {
  limit_gradient gradient(4, 1000, 100);
  gradient.update(used(100, 10ms));
  gradient.update(used(gradient.limit(), 15ms));
  EXPECT_NEAR(gradient.limit(), 81, 5);
  const unsigned before = gradient.limit();
  gradient.update(used(before, 1s));
  // After such a fall it steps back to measure as well.
  EXPECT_NEAR(gradient.limit(), 0.7 * before / 2, 6);
}

TEST(a_gradient, stays_within_its_bounds) {
  limit_gradient gradient(10, 24, 20);
  for (int i = 0; i < 100; ++i) gradient.update(used(gradient.limit(), 10ms));
  EXPECT_LE(gradient.limit(), 24u);
  for (int i = 0; i < 100; ++i) {
    gradient.update({.answered = 0, .timed_out = 100, .peak = gradient.limit(), .typical = {}});
    EXPECT_GE(gradient.limit(), 10u);
  }
  EXPECT_EQ(gradient.limit(), 10u);
}

TEST(a_gradient, leaves_a_limit_alone_of_which_half_is_not_used) {
  limit_gradient gradient(4, 1000, 100);
  for (int i = 1; i < 100; ++i) gradient.update(used(50, i * 10ms));
  EXPECT_EQ(gradient.limit(), 100u);
  EXPECT_GT(gradient.base(), 500ms) << "what calls take at this load is what they take";
}

TEST(a_gradient, steps_back_now_and_then_to_measure) {
  limit_gradient gradient(4, 1000, 100);
  bool stepped_back = false;
  for (int i = 0; i < 60; ++i) {
    const unsigned before = gradient.limit();
    gradient.update(used(before, 10ms));
    stepped_back |= gradient.limit() < before * 0.75;
  }
  EXPECT_TRUE(stepped_back);
}

}  // namespace
}  // namespace switchgear::cascade
