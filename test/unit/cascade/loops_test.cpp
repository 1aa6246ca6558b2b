// Which call is not made again, and how little is remembered of all.
#include "cascade/loops.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace switchgear::cascade {
namespace {

using namespace std::chrono_literals;

constexpr time_point start = time_point() + 1000s;
constexpr loop_policy thrice{.failures = 3, .window = 60s};

loop_key key(unsigned number) {
  loop_key made{};
  for (unsigned i = 0; i < 4; ++i) made[i] = static_cast<unsigned char>(number >> 8 * i);
  made.back() = static_cast<unsigned char>(number);
  return made;
}

TEST(a_loop, is_seen_after_so_many_failures) {
  loops tested;
  EXPECT_TRUE(tested.empty());
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(tested.find(key(1), thrice, start + i * 1s));
    tested.failed(key(1), thrice, "no " + std::to_string(i), start + i * 1s);
  }
  const auto found = tested.find(key(1), thrice, start + 3s);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->failures, 3u);
  EXPECT_EQ(found->words, "no 2");
  EXPECT_FALSE(tested.empty());
  EXPECT_FALSE(tested.find(key(2), thrice, start + 3s));
}

TEST(a_loop, may_be_one_failure_long) {
  loops tested;
  const loop_policy once{.failures = 1, .window = 1s};
  tested.failed(key(1), once, "no", start);
  EXPECT_TRUE(tested.find(key(1), once, start));
}

TEST(a_loop, lets_a_call_through_when_a_failure_has_left_the_window) {
  loops tested;
  for (const duration at : {0s, 20s, 40s}) tested.failed(key(1), thrice, "no", start + at);
  EXPECT_TRUE(tested.find(key(1), thrice, start + 59s));
  EXPECT_FALSE(tested.find(key(1), thrice, start + 60s));
  tested.failed(key(1), thrice, "no", start + 61s);
  EXPECT_TRUE(tested.find(key(1), thrice, start + 79s)) << "that call failed, too";
  EXPECT_FALSE(tested.find(key(1), thrice, start + 80s));
}

TEST(a_loop, ends_with_a_success) {
  loops tested;
  for (int i = 0; i < 3; ++i) tested.failed(key(1), thrice, "no", start);
  tested.succeeded(key(1));
  tested.succeeded(key(7));
  EXPECT_FALSE(tested.find(key(1), thrice, start));
  EXPECT_TRUE(tested.empty());
  tested.failed(key(1), thrice, "no", start);
  EXPECT_FALSE(tested.find(key(1), thrice, start));
}

TEST(a_loop, counts_failures_that_are_heard_of_in_another_order) {
  loops tested;
  for (const duration at : {10s, 30s, 20s}) tested.failed(key(1), thrice, "no", start + at);
  EXPECT_TRUE(tested.find(key(1), thrice, start + 69s));
  EXPECT_FALSE(tested.find(key(1), thrice, start + 70s));
}

TEST(loops, keep_a_part_of_the_words) {
  loops tested;
  const loop_policy once{.failures = 1, .window = 1s};
  tested.failed(key(1), once, std::string(100'000, 'x'), start);
  EXPECT_EQ(tested.find(key(1), once, start)->words.size(), loops::most_words);
}

TEST(loops, forget_what_is_over_when_they_are_asked_for_it) {
  loops tested;
  tested.failed(key(1), thrice, "no", start);
  EXPECT_FALSE(tested.find(key(1), thrice, start + 60s));
  EXPECT_TRUE(tested.empty());
}

TEST(loops, are_bounded_and_forget_the_oldest_first) {
  loops tested(16 * 10);
  const loop_policy once{.failures = 1, .window = 1h};
  for (unsigned i = 0; i < 1000; ++i) tested.failed(key(i * 256), once, "no", start);  // all in one shard
  EXPECT_EQ(tested.size(), 10u);
  EXPECT_TRUE(tested.find(key(999 * 256), once, start));
  EXPECT_TRUE(tested.find(key(990 * 256), once, start)) << "and who was asked for is young again";
  EXPECT_FALSE(tested.find(key(989 * 256), once, start));
  tested.failed(key(5000 * 256), once, "no", start);
  EXPECT_TRUE(tested.find(key(990 * 256), once, start));
  EXPECT_FALSE(tested.find(key(991 * 256), once, start));
  for (unsigned i = 0; i < 5000; ++i) tested.failed(key(i), once, "no", start);
  EXPECT_EQ(tested.size(), 160u);
}

TEST(loops, are_used_by_many_threads_at_once) {
  loops tested(1600);
  std::vector<std::thread> callers;
  for (unsigned thread = 0; thread < 4; ++thread) {
    callers.emplace_back([&tested, thread] {
      for (unsigned i = 0; i < 5000; ++i) {
        tested.failed(key(i % 300), thrice, "no", start + i * 1us);
        (void)tested.find(key(i % 200), thrice, start + i * 1us);
        if (i % 7 == thread) tested.succeeded(key(i % 100));
      }
    });
  }
  for (std::thread& each : callers) each.join();
  EXPECT_EQ(tested.find(key(299), thrice, start + 1s)->failures, 3u);
  EXPECT_LE(tested.size(), 300u);
}

}  // namespace
}  // namespace switchgear::cascade
