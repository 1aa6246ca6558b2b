// For how long a tool that asked for fewer calls is left alone. RC-068.
#include "cascade/pause.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace switchgear::cascade {
namespace {

using namespace std::chrono_literals;

constexpr time_point start = time_point() + 1000s;

TEST(the_length_of_a_pause, is_what_the_answer_says_within_reason) {
  EXPECT_EQ(pause_length(1s), 1s);
  EXPECT_EQ(pause_length(1ms), 1ms);
  EXPECT_EQ(pause_length(5min), 5min);
  EXPECT_EQ(pause_length(999999s), 5min);
}

TEST(the_length_of_a_pause, is_one_second_when_the_answer_says_nothing_of_use) {
  EXPECT_EQ(pause_length(std::nullopt), 1s);
  EXPECT_EQ(pause_length(0s), 1s);
  EXPECT_EQ(pause_length(-5s), 1s);
}

TEST(a_pause, is_over_when_its_time_is) {
  pause tested;
  EXPECT_EQ(tested.left("", start), 0s);
  EXPECT_TRUE(tested.lengthen("", start + 2s, start));
  EXPECT_EQ(tested.left("", start), 2s);
  EXPECT_EQ(tested.left("", start + 1500ms), 500ms);
  EXPECT_EQ(tested.left("", start + 2s), 0s);
  EXPECT_EQ(tested.left("", start + 1h), 0s);
}

TEST(a_pause, gets_longer_and_never_shorter) {
  pause tested;
  tested.lengthen("", start + 10s, start);
  EXPECT_FALSE(tested.lengthen("", start + 2s, start + 1s));
  EXPECT_FALSE(tested.lengthen("", start + 10s, start + 1s)) << "nobody needs to hear what is known";
  EXPECT_EQ(tested.left("", start + 1s), 9s);
  EXPECT_TRUE(tested.lengthen("", start + 12s, start + 1s));
  EXPECT_EQ(tested.left("", start + 1s), 11s);
  EXPECT_FALSE(tested.lengthen("", start, start + 1s)) << "what is over pauses nothing";
}

TEST(a_pause, is_of_one_credential) {
  pause tested;
  tested.lengthen("alice", start + 10s, start);
  EXPECT_EQ(tested.left("alice", start), 10s);
  EXPECT_EQ(tested.left("bob", start), 0s);
  EXPECT_EQ(tested.left("", start), 0s);
  EXPECT_EQ(tested.longest(start), 10s);
  tested.lengthen("bob", start + 5s, start);
  EXPECT_EQ(tested.longest(start), 10s);
}

TEST(a_pause, keeps_the_longest_of_too_many_credentials) {
  pause tested;
  tested.lengthen("short", start + 1s, start);
  tested.lengthen("long", start + 1h, start);
  for (std::size_t i = 0; i < pause::most_credentials - 1; ++i) {
    tested.lengthen("c" + std::to_string(i), start + 10s, start);
  }
  EXPECT_EQ(tested.left("short", start), 0s);
  EXPECT_EQ(tested.left("long", start), 1h);
  EXPECT_EQ(tested.left("c0", start), 10s);
  // When some are over, none that is not has to go.
  tested.lengthen("next", start + 30s, start + 20s);
  tested.lengthen("last", start + 25s, start + 20s);
  EXPECT_EQ(tested.left("next", start + 20s), 10s);
  EXPECT_EQ(tested.left("last", start + 20s), 5s);
}

TEST(a_pause, is_the_longest_whoever_says_so_first) {
  pause tested;
  std::vector<std::thread> callers;
  for (int i = 1; i <= 4; ++i) {
    callers.emplace_back([&tested, i] {
      for (int n = 1; n <= 1000; ++n) {
        tested.lengthen(n % 2 != 0 ? "" : "other", start + n * i * 1ms, start);
        (void)tested.left("", start);
      }
    });
  }
  for (std::thread& each : callers) each.join();
  EXPECT_EQ(tested.left("", start), 3996ms);
  EXPECT_EQ(tested.left("other", start), 4s);
  EXPECT_EQ(tested.longest(start), 4s);
}

}  // namespace
}  // namespace switchgear::cascade
