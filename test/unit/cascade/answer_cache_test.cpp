#include "cascade/answer_cache.hpp"

#include <gtest/gtest.h>

#include <string>

namespace switchgear::cascade {
namespace {

using namespace std::chrono_literals;

const time_point start{1000s};

answer_key key(unsigned char number) {
  answer_key made{};
  made[0] = number;
  return made;
}

TEST(an_answer_cache, gives_back_the_last_answer_with_its_age) {
  answer_cache cache({});
  cache.store(key(1), "first", start);
  cache.store(key(1), "second", start + 1s);

  const auto hit = cache.find(key(1), start + 4s, 1min);

  ASSERT_TRUE(hit);
  EXPECT_EQ(*hit->result, "second");
  EXPECT_EQ(hit->age, 3s);
  EXPECT_EQ(cache.size(), 1U);
}

TEST(an_answer_cache, has_nothing_under_another_key) {
  answer_cache cache({});
  cache.store(key(1), "first", start);

  EXPECT_FALSE(cache.find(key(2), start, 1min));
}

TEST(an_answer_cache, gives_no_answer_older_than_asked_for_and_keeps_it_for_who_asks_for_older) {
  answer_cache cache({});
  cache.store(key(1), "old", start);

  EXPECT_FALSE(cache.find(key(1), start + 10s + 1ns, 10s));
  EXPECT_TRUE(cache.find(key(1), start + 10s, 10s));
  EXPECT_TRUE(cache.find(key(1), start + 1min, 1h));
}

TEST(an_answer_cache, is_not_set_back_by_a_call_that_was_overtaken) {
  answer_cache cache({});
  cache.store(key(1), "newer", start + 1s);
  cache.store(key(1), "older", start);

  EXPECT_EQ(*cache.find(key(1), start + 1s, 1min)->result, "newer");
}

TEST(an_answer_cache, drops_what_was_not_used_for_longest_when_it_is_full) {
  // Room for two answers of 600 bytes, with what they cost beside their text.
  answer_cache cache({.bytes = 2000, .entry_bytes = 1000});
  const std::string big(600, 'x');
  cache.store(key(1), big, start);
  cache.store(key(2), big, start);
  ASSERT_TRUE(cache.find(key(1), start, 1min));

  cache.store(key(3), big, start);

  EXPECT_TRUE(cache.find(key(1), start, 1min));
  EXPECT_FALSE(cache.find(key(2), start, 1min));
  EXPECT_TRUE(cache.find(key(3), start, 1min));
}

TEST(an_answer_cache, never_holds_more_than_its_limit) {
  const answer_cache::limits most{.bytes = 100'000, .entry_bytes = 5'000};
  answer_cache cache(most);

  for (unsigned i = 0; i < 2000; ++i) {
    answer_key one = key(static_cast<unsigned char>(i));
    one[1] = static_cast<unsigned char>(i >> 8);
    one[15] = static_cast<unsigned char>(i * 7);
    cache.store(one, std::string(i * 13 % 6000, 'x'), start);
    ASSERT_LE(cache.bytes(), most.bytes);
  }
  EXPECT_GT(cache.size(), 10U);
}

TEST(an_answer_cache, keeps_no_answer_above_the_limit_of_one_and_forgets_the_outdated_one) {
  answer_cache cache({.bytes = 10'000, .entry_bytes = 100});
  cache.store(key(1), "small", start);

  cache.store(key(1), std::string(101, 'x'), start + 1s);

  EXPECT_FALSE(cache.find(key(1), start + 1s, 1min));
  EXPECT_EQ(cache.bytes(), 0U);
}

TEST(an_answer_cache, of_no_bytes_keeps_nothing) {
  answer_cache cache({.bytes = 0, .entry_bytes = 100});

  cache.store(key(1), "x", start);

  EXPECT_EQ(cache.size(), 0U);
}

// RC-071: what may be given again.
TEST(only_a_good_answer_of_a_reading_tool, is_cacheable) {
  const candidate good{.read_only = true, .is_result = true, .is_error = false, .in_dialogue = false};
  candidate writes = good, no_result = good, error = good, asks = good;
  writes.read_only = false;
  no_result.is_result = false;
  error.is_error = true;
  asks.in_dialogue = true;

  EXPECT_TRUE(cacheable(good));
  EXPECT_FALSE(cacheable(writes));
  EXPECT_FALSE(cacheable(no_result));
  EXPECT_FALSE(cacheable(error));
  EXPECT_FALSE(cacheable(asks));
}

}  // namespace
}  // namespace switchgear::cascade
