#include "peers/recent_latency.hpp"

#include <gtest/gtest.h>

namespace switchgear::peers {
namespace {

using namespace std::chrono_literals;

TEST(recent_latency, forgets_what_is_older_than_the_window) {
  // given slow calls, then none of them
  recent_latency recent;
  breaker::latency_counts counters{};
  time_point now(1h);
  counters[breaker::latency_bucket(2s)] = 100;
  recent.observe({}, 60s, now);
  recent.observe(counters, 60s, now += 1s);
  EXPECT_NEAR(std::chrono::duration<double>(recent.p99()).count(), 2.0, 0.25);

  // when the window has passed with quick ones
  for (int second = 0; second < 75; ++second) {
    counters[breaker::latency_bucket(10ms)] += 10;
    recent.observe(counters, 60s, now += 1s);
  }

  // then only those are seen
  EXPECT_NEAR(std::chrono::duration<double>(recent.p99()).count(), 0.010, 0.0015);
}

TEST(recent_latency, is_zero_without_calls_and_after_a_pause) {
  recent_latency recent;
  breaker::latency_counts counters{};
  EXPECT_EQ(recent.p99(), duration::zero());
  counters[breaker::latency_bucket(1s)] = 5;
  recent.observe(counters, 60s, time_point(1h));
  recent.observe(counters, 60s, time_point(2h));
  recent.observe(counters, 60s, time_point(2h) + 100s);
  EXPECT_EQ(recent.p99(), duration::zero());
}

}  // namespace
}  // namespace switchgear::peers
