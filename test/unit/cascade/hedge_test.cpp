// When a second try begins beside a slow first one.
#include "cascade/hedge.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace switchgear::cascade {
namespace {

using namespace std::chrono_literals;

void add(latency_record& to, unsigned count, duration took) {
  for (unsigned i = 0; i < count; ++i) to.add(took);
}

TEST(a_latency_record, knows_nothing_usual_until_enough_answers_came) {
  latency_record known;
  add(known, latency_record::least_known - 1, 10ms);
  EXPECT_FALSE(known.quantile(0.95));
  known.add(10ms);
  EXPECT_TRUE(known.quantile(0.95));
}

TEST(a_latency_record, tells_a_quantile_within_ten_percent) {
  latency_record known;
  for (int i = 1; i <= 100; ++i) known.add(i * 1ms);
  EXPECT_NEAR(static_cast<double>(known.quantile(0.95)->count()), 95e6, 10e6);
  EXPECT_NEAR(static_cast<double>(known.quantile(0.5)->count()), 50e6, 6e6);
}

TEST(a_latency_record, forgets_how_it_was) {
  latency_record known;
  add(known, 1000, 1ms);
  add(known, 4000, 100ms);
  EXPECT_GT(*known.quantile(0.5), 80ms);
}

TEST(a_latency_record, takes_answers_from_all_threads) {
  latency_record known;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { add(known, 5000, 20ms); });
  }
  EXPECT_NEAR(static_cast<double>(known.quantile(0.9)->count()), 20e6, 3e6);
}

TEST(a_hedge, begins_after_the_quantile_but_not_before_the_least) {
  latency_record known;
  add(known, 100, 100ms);
  EXPECT_GT(*hedge_after({.quantile = 0.95, .least = 20ms}, known, 10s), 85ms);
  EXPECT_EQ(*hedge_after({.quantile = 0.95, .least = 500ms}, known, 10s), 500ms);
}

TEST(a_hedge, does_not_begin_when_it_is_off_or_could_not_be_back_in_time) {
  latency_record known;
  EXPECT_FALSE(hedge_after({.quantile = 0.95}, known, 10s));  // nothing is known
  add(known, 100, 100ms);
  EXPECT_FALSE(hedge_after({.quantile = 0}, known, 10s));
  EXPECT_FALSE(hedge_after({.quantile = 0.95}, known, 100ms));
}

}  // namespace
}  // namespace switchgear::cascade
