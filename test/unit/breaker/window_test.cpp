#include "breaker/window.hpp"

#include "breaker/latency.hpp"
#include "breaker/monotone.hpp"
#include "breaker/sequential.hpp"

#include <gtest/gtest.h>

namespace switchgear::breaker {
namespace {

using namespace std::chrono_literals;

const time_point start(1h);

TEST(window, holds_what_was_added_for_exactly_its_length) {
  for (const auto length : {10s, 60s, 300s}) {
    window seen(length);
    seen.advance(start + 300ms);
    seen.add({7, 3, 5, 2, 1});
    for (auto later = 0s; later < length; later += 1s) {
      seen.advance(start + later);
      EXPECT_EQ(seen.total(), (counts{7, 3, 5, 2, 1}));
    }
    seen.advance(start + length);
    EXPECT_EQ(seen.total(), counts{});
  }
}

TEST(window, total_is_the_sum_of_its_slots) {
  window seen(10s);
  time_point now = start;
  std::uint64_t steps[] = {0, 1, 1, 3, 0, 9, 10, 11, 1, 25, 2, 1};
  for (int i = 0; i < 600; ++i) {
    now += 137ms * steps[i % std::size(steps)];
    seen.advance(now);
    seen.add({std::uint64_t(i % 7 + 3), std::uint64_t(i % 3), 1, 1, 0});
    EXPECT_EQ(seen.total(), seen.recount());
  }
}

TEST(last_second, forgets_to_a_tenth) {
  last_second events;
  events.add(5, start);
  events.add(3, start + 500ms);
  EXPECT_EQ(events.sum(start + 999ms), 8u);
  EXPECT_EQ(events.sum(start + 1s), 3u);
  EXPECT_EQ(events.sum(start + 1500ms), 0u);
  events.add(1, start + 1h);
  EXPECT_EQ(events.sum(start + 1h), 1u);
}

TEST(monotone, never_goes_back) {
  monotone clock(start);
  EXPECT_EQ(clock.advance(start + 5s), start + 5s);
  EXPECT_EQ(clock.advance(start + 4900ms), start + 5s);
  EXPECT_EQ(clock.advance(start + 5s), start + 5s);  // two threads' readings add up to no time
  EXPECT_EQ(clock.advance(start - 1h), start + 5s);
  EXPECT_EQ(clock.advance(start - 1h + 1s), start + 6s);
  EXPECT_EQ(clock.advance(start), start + 1h + 5s);
}

TEST(sequential, weighs_calls_by_how_likely_they_are_in_an_outage) {
  sequential rule(0.15, 0.80, 14.3);
  rule.add({{1, 1, 1, 0, 0}, 1});
  EXPECT_NEAR(rule.evidence(), 1.674, 0.001);
  rule.add({{1, 0, 1, 0, 0}, 0});
  EXPECT_NEAR(rule.evidence(), 0.227, 0.001);
  rule.add({{1, 0, 1, 0, 0}, 0});
  EXPECT_EQ(rule.evidence(), 0);
}

TEST(sequential, bears_an_outage_rate_of_a_hundred_percent) {
  sequential rule(0.15, 1.0, 14.3);
  EXPECT_FALSE(rule.add({{7, 7, 7, 0, 0}, 7}));
  rule.add({{2, 0, 2, 0, 0}, 0});
  EXPECT_GE(rule.evidence(), 0);
  EXPECT_TRUE(rule.add({{9, 9, 9, 0, 0}, 9}));
}

TEST(latency_bucket, keeps_a_shown_length_within_a_tenth) {
  for (double ms = 0.1; ms < 900'000; ms *= 1.07) {
    latency_counts counts{};
    const duration length(static_cast<std::int64_t>(ms * 1e6));
    counts[latency_bucket(length)] = 1;
    const double shown = static_cast<double>(latency_quantile(counts, 0.99).count());
    EXPECT_NEAR(shown / static_cast<double>(length.count()), 1, 0.125) << ms;
  }
}

TEST(latency_quantile, finds_the_ninety_ninth_of_a_hundred) {
  latency_counts counts{};
  counts[latency_bucket(1ms)] = 99;
  counts[latency_bucket(1s)] = 1;
  EXPECT_LT(latency_quantile(counts, 0.99), 2ms);
  counts[latency_bucket(1s)] = 2;
  EXPECT_GT(latency_quantile(counts, 0.99), 500ms);
  EXPECT_EQ(latency_quantile({}, 0.99), duration::zero());
}

TEST(latency_bucket, takes_any_length) {
  EXPECT_EQ(latency_bucket(duration::min()), 0u);
  EXPECT_EQ(latency_bucket(0s), 0u);
  EXPECT_EQ(latency_bucket(duration(1)), 1u);
  EXPECT_EQ(latency_bucket(duration::max()), latency_buckets - 1);
}

}  // namespace
}  // namespace switchgear::breaker
