#include "cascade/retry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace switchgear::cascade {
namespace {

using namespace std::chrono_literals;

constexpr retry_policy thrice{.attempts = 3, .backoff = 100ms, .longest_pause = 150ms};
constexpr finished_try unreachable{.how = ending::unreachable};

std::optional<duration> after(const finished_try& last, double chance = 0, duration left = 10s, unsigned made = 1) {
  return pause_before_retry(thrice, made, last, left, chance);
}

TEST(a_retry, is_made_of_what_was_never_sent) {
  EXPECT_TRUE(after(unreachable));
  EXPECT_TRUE(after({.how = ending::failed}));
  EXPECT_TRUE(after({.how = ending::timed_out}));
}

TEST(a_retry, is_made_of_what_may_have_happened_only_when_it_does_no_harm) {
  for (const ending how : {ending::failed, ending::timed_out, ending::throttled}) {
    EXPECT_FALSE(after({.how = how, .sent = true}));
    EXPECT_TRUE(after({.how = how, .sent = true, .repeatable = true}));
  }
  EXPECT_TRUE(after({.how = ending::throttled, .sent = true, .declined = true}));
}

TEST(a_retry, is_not_made_of_what_is_an_answer_or_our_own_decision) {
  for (const ending how :
       {ending::answered, ending::refused, ending::denied, ending::cancelled, ending::hit, ending::miss, ending::unfit,
        ending::no_argument, ending::no_time, ending::unsafe, ending::repeated}) {
    EXPECT_FALSE(after({.how = how, .repeatable = true})) << name(how);
  }
}

TEST(a_retry, is_made_as_often_as_the_policy_says) {
  EXPECT_TRUE(after(unreachable, 0, 10s, 2));
  EXPECT_FALSE(after(unreachable, 0, 10s, 3));
  EXPECT_FALSE(pause_before_retry({}, 1, unreachable, 10s, 0)) << "by default none is";
}

TEST(a_retry, waits_for_a_random_part_of_a_limit_that_doubles) {
  EXPECT_EQ(after(unreachable, 0), 0ms);
  EXPECT_EQ(after(unreachable, 0.5), 50ms);
  EXPECT_EQ(after(unreachable, 0.5, 10s, 2), 75ms) << "half of 150 ms, where the doubling ends";
  const retry_policy long_ones{.attempts = retry_policy::most_attempts, .backoff = 1h, .longest_pause = 1h};
  EXPECT_EQ(pause_before_retry(long_ones, 4, unreachable, 10h, 0.5), 30min);
}

TEST(a_retry, waits_as_long_as_the_target_says_within_reason) {
  finished_try throttled{.how = ending::throttled, .declined = true, .retry_after = 1s};
  EXPECT_EQ(after(throttled, 0.5), 1050ms);
  throttled.retry_after = -5s;
  EXPECT_EQ(after(throttled, 0), 0ms);
  throttled.retry_after = std::chrono::hours(300);
  EXPECT_EQ(after(throttled, 0, 1h), longest_retry_after);
}

TEST(a_retry, is_not_begun_without_time_for_it) {
  EXPECT_TRUE(after(unreachable, 0.5, 50ms + machine::minimum_left));
  EXPECT_FALSE(after(unreachable, 0.5, 50ms + machine::minimum_left - 1ns));
  EXPECT_FALSE(after(unreachable, 0, -1s));
}

TEST(a_retry_budget, lends_some_and_gives_a_share_of_all_calls_in_the_end) {
  retry_budget budget(0.1);
  unsigned taken = 0;
  while (budget.take()) ++taken;
  EXPECT_EQ(taken, retry_budget::reserve);
  for (unsigned calls = 1; calls <= 1000; ++calls) {
    budget.call();
    taken += budget.take();
    EXPECT_LE(taken, std::max(retry_budget::reserve, calls / 10));
  }
  EXPECT_EQ(taken, 100u);
}

TEST(a_retry_budget, is_paid_back_by_calls_that_go_well) {
  retry_budget budget(0.1);
  for (int i = 0; i < 200; ++i) budget.call();
  unsigned taken = 0;
  while (budget.take()) ++taken;
  EXPECT_EQ(taken, retry_budget::reserve);
  for (int i = 0; i < 100; ++i) budget.call();
  while (budget.take()) ++taken;
  EXPECT_EQ(taken, 2 * retry_budget::reserve);
}

TEST(a_retry_budget, saves_no_more_than_the_reserve) {
  retry_budget budget(1);
  for (int i = 0; i < 1000; ++i) budget.call();
  unsigned taken = 0;
  while (budget.take()) ++taken;
  EXPECT_LE(taken, retry_budget::reserve + 1);
}

TEST(a_retry_budget, may_be_nothing) {
  retry_budget budget(0);
  for (int i = 0; i < 1000; ++i) budget.call();
  EXPECT_FALSE(budget.take());
}

TEST(a_retry_budget, is_not_spent_twice_by_two_threads) {
  retry_budget budget(0.5);
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int worker = 0; worker < 4; ++worker) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10'000; ++i) {
        budget.call();
        taken += budget.take();
      }
    });
  }
  for (std::thread& each : threads) each.join();
  EXPECT_LE(taken, 20'000 + static_cast<int>(retry_budget::reserve));
  EXPECT_GT(taken, 10'000);
}

}  // namespace
}  // namespace switchgear::cascade
