// Pauses between tries.
#include "peers/redis/pace.hpp"

#include <gtest/gtest.h>

namespace switchgear::peers::redis {
namespace {

using namespace std::chrono_literals;

constexpr time_point start{100s};

/// Tries each time it is due, without success; how often in `length`.
int tries_within(pace& tested, spread& chance, duration length) {
  int tries = 0;
  for (time_point now = start; now < start + length; now += 1ms) {
    if (!tested.due(now)) continue;
    tested.tried(now, chance);
    ++tries;
  }
  return tries;
}

TEST(pace, lets_the_first_try_be_made_at_once) {
  EXPECT_TRUE(pace().due(start));
}

TEST(pace, grows_to_a_try_in_half_a_second_or_a_whole_one) {
  spread chance(1);
  pace tested;
  const int tries = tries_within(tested, chance, 60s);
  EXPECT_GE(tries, 60);
  EXPECT_LE(tries, 126);
}

TEST(pace, of_connections_that_break_at_once_grows_as_well) {
  spread chance(2);
  pace tested;
  int tries = 0;
  for (time_point now = start; now < start + 60s; now += 1ms) {
    if (!tested.due(now)) continue;
    tested.tried(now, chance);
    tested.ended(now, chance);
    ++tries;
  }
  EXPECT_LE(tries, 126);
}

TEST(pace, is_short_again_after_an_achievement) {
  spread chance(3);
  pace tested;
  tries_within(tested, chance, 60s);
  tested.achieved();
  tested.tried(start + 60s, chance);
  EXPECT_LE(tested.next(), start + 60s + pace::first);
}

TEST(pace, after_a_long_connection_is_nearly_at_once) {
  spread chance(4);
  pace tested;
  tested.tried(start, chance);
  tested.achieved();
  tested.ended(start + 1h, chance);
  EXPECT_FALSE(tested.due(start + 1h));
  EXPECT_TRUE(tested.due(start + 1h + pace::after_end));
}

TEST(spread, sets_replicas_apart) {
  spread one(5), other(6);
  EXPECT_NE(one.about(1s), other.about(1s));
  for (int i = 0; i < 1000; ++i) {
    const duration length = one.about(1s);
    EXPECT_GE(length, 500ms);
    EXPECT_LE(length, 1s);
  }
}

}  // namespace
}  // namespace switchgear::peers::redis
