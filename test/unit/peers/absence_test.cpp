#include "peers/redis/absence.hpp"

#include <gtest/gtest.h>

namespace switchgear::peers::redis {
namespace {

using namespace std::chrono_literals;

constexpr time_point start{1000h};

TEST(an_absence, begins_with_the_third_miss_in_a_row) {
  absence node;
  EXPECT_FALSE(node.missed(start, 0.5));
  EXPECT_FALSE(node.missed(start, 0.5));
  EXPECT_FALSE(node.found(start).has_value());  // which makes the first two good
  EXPECT_FALSE(node.missed(start, 0.5));
  EXPECT_FALSE(node.missed(start, 0.5));
  EXPECT_FALSE(node.alone());
  EXPECT_TRUE(node.missed(start, 0.5));
  EXPECT_TRUE(node.alone());
}

TEST(an_absence, is_news_once) {
  absence node;
  EXPECT_TRUE(node.refused(start, 0.5));
  EXPECT_FALSE(node.refused(start + 1s, 0.5));
  EXPECT_FALSE(node.missed(start + 2s, 0.5));
}

TEST(an_absence, is_looked_into_at_growing_intervals_up_to_a_second) {
  // given
  absence node;
  time_point now = start;
  node.refused(now, 1);
  for (const duration expected : {200ms, 400ms, 800ms, 1000ms, 1000ms}) {
    // then
    EXPECT_FALSE(node.may_try(now + expected - 1ms));
    now += expected;
    EXPECT_TRUE(node.may_try(now));
    // when
    node.missed(now, 1);
  }
}

TEST(an_absence, is_looked_into_by_no_two_replicas_at_the_same_moment) {
  absence early, late;
  early.refused(start, 0);
  late.refused(start, 0.9);
  EXPECT_TRUE(early.may_try(start + 100ms));
  EXPECT_FALSE(late.may_try(start + 189ms));
  EXPECT_TRUE(late.may_try(start + 190ms));
}

TEST(an_absence, is_looked_into_at_once_after_a_sign_of_life) {
  absence node;
  for (int i = 0; i < 6; ++i) node.refused(start, 1);
  EXPECT_FALSE(node.may_try(start + 1ms));
  node.look_again();
  EXPECT_TRUE(node.may_try(start + 1ms));
  EXPECT_TRUE(node.alone());
  node.missed(start + 1ms, 1);
  EXPECT_FALSE(node.may_try(start + 900ms)) << "the sign was wrong";
}

TEST(an_absence, tells_at_its_end_how_long_it_was) {
  absence node;
  node.refused(start, 0.5);
  EXPECT_EQ(node.found(start + 7s), duration(7s));
  EXPECT_TRUE(node.may_try(start + 7s));
  // The next one begins with short intervals again.
  node.refused(start + 8s, 1);
  EXPECT_TRUE(node.may_try(start + 8200ms));
}

}  // namespace
}  // namespace switchgear::peers::redis
