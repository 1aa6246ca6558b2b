// Answers on their way to the other replicas.
#include "peers/redis/answer_queue.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchgear::peers::redis {
namespace {

using namespace std::chrono_literals;

constexpr time_point start = time_point() + 1000s;

answer_queue::entry entry(unsigned char number, std::string result, time_point given = start) {
  port::question_digest asked{};
  asked[3] = number;
  return {asked, std::move(result), given, given + 1min};
}

std::string all_of(answer_queue& from, time_point now = start) {
  std::string all;
  for (const auto& each : from.take(1000, 1 << 30, now)) all += each.result + ' ';
  return all;
}

TEST(an_answer_queue, gives_the_oldest_first) {
  answer_queue queue(10'000);
  for (unsigned char i = 0; i < 3; ++i) queue.add(entry(i, std::string(1, static_cast<char>('a' + i))));

  EXPECT_EQ(all_of(queue), "a b c ");
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.bytes(), 0U);
}

TEST(an_answer_queue, has_one_answer_a_question_the_newest_in_the_place_of_the_first) {
  answer_queue queue(10'000);
  queue.add(entry(1, "first"));
  queue.add(entry(2, "other"));
  queue.add(entry(1, "second, and longer", start + 1s));
  queue.add(entry(1, "overtaken"));

  EXPECT_EQ(all_of(queue), "second, and longer other ");
  EXPECT_EQ(queue.bytes(), 0U);
  EXPECT_EQ(queue.dropped(), 0U);
}

TEST(an_answer_queue, drops_the_oldest_when_it_is_full) {
  answer_queue queue(3000);
  for (unsigned char i = 0; i < 200; ++i) {
    queue.add(entry(i, std::string(700, 'x')));
    EXPECT_LE(queue.bytes(), 3000U);
  }
  queue.add(entry(201, std::string(5000, 'y')));

  EXPECT_EQ(queue.dropped(), 201U);
  EXPECT_TRUE(queue.empty());
}

TEST(an_answer_queue, gives_no_more_at_once_than_asked_for_and_always_something) {
  answer_queue queue(100'000);
  for (unsigned char i = 0; i < 10; ++i) queue.add(entry(i, std::string(1000, 'x')));

  EXPECT_EQ(queue.take(3, 1 << 20, start).size(), 3U);
  EXPECT_EQ(queue.take(100, 2500, start).size(), 2U);
  EXPECT_EQ(queue.take(100, 10, start).size(), 1U);
  EXPECT_EQ(queue.take(100, 1 << 20, start).size(), 4U);
}

TEST(an_answer_queue, forgets_what_is_of_no_use_any_more) {
  answer_queue queue(100'000);
  queue.add(entry(1, "old"));
  queue.add(entry(2, "new", start + 30s));

  EXPECT_EQ(all_of(queue, start + 1min), "new ");
}

}  // namespace
}  // namespace switchgear::peers::redis
