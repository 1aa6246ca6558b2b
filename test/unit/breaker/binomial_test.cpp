#include "breaker/binomial.hpp"

#include <gtest/gtest.h>

namespace switchgear::breaker {
namespace {

TEST(binomial_limit, is_the_smallest_count_whose_tail_is_within_alpha) {
  for (const double p : {0.01, 0.15, 0.5, 0.9}) {
    for (const double alpha : {1e-3, 1e-4, 1e-6, 1e-9}) {
      const binomial_limit limit(p, alpha);
      for (std::uint64_t n = 1; n <= binomial_limit::exact_up_to; n += 1 + n / 3) {
        const std::uint64_t k = limit(n);
        EXPECT_LE(binomial_tail(n, k, p), alpha * (1 + 1e-9)) << n << ' ' << p << ' ' << alpha;
        EXPECT_GT(binomial_tail(n, k - 1, p), alpha * (1 - 1e-9)) << n << ' ' << p << ' ' << alpha;
      }
    }
  }
}

TEST(binomial_limit, has_the_known_values_for_one_percent) {
  struct row {
    std::uint64_t n, at_4, at_6;
  };
  const binomial_limit four(0.01, 1e-4), six(0.01, 1e-6);
  for (const row& r : {row{50, 6, 7}, row{100, 7, 9}, row{200, 10, 13}, row{500, 16, 20}, row{1000, 25, 29},
                       row{10'000, 140, 152}, row{100'000, 1120, 1154}}) {
    EXPECT_EQ(four(r.n), r.at_4) << r.n;
    EXPECT_EQ(six(r.n), r.at_6) << r.n;
  }
}

TEST(binomial_limit, is_within_one_of_exact_above_the_table) {
  for (const double p : {0.01, 0.05, 0.15, 0.5}) {
    for (const double alpha : {1e-3, 1e-4, 1e-6}) {
      const binomial_limit limit(p, alpha);
      for (const std::uint64_t n : {4097u, 6000u, 20'000u, 100'000u}) {
        const std::uint64_t k = limit(n);
        EXPECT_LE(binomial_tail(n, k + 1, p), alpha) << n << ' ' << p << ' ' << alpha;
        EXPECT_GT(binomial_tail(n, k - 2, p), alpha) << n << ' ' << p << ' ' << alpha;
      }
    }
  }
}

TEST(binomial_limit, does_not_jump_at_the_end_of_the_table) {
  for (const double p : {0.01, 0.15, 0.8}) {
    const binomial_limit limit(p, 1e-4);
    const auto last = limit(binomial_limit::exact_up_to), next = limit(binomial_limit::exact_up_to + 1);
    EXPECT_GE(next + 1, last);
    EXPECT_LE(next, last + 2);
  }
}

TEST(binomial_limit, cannot_be_reached_by_too_few_calls) {
  const binomial_limit limit(0.15, 1e-4);
  for (std::uint64_t n = 0; n <= 4; ++n) EXPECT_EQ(limit(n), n + 1);
}

TEST(binomial_limit, is_shared_by_those_who_ask_alike) {
  const auto one = binomial_limit::shared(0.15, 1e-4), two = binomial_limit::shared(0.15, 1e-4);
  EXPECT_EQ(one, two);
  EXPECT_NE(one, binomial_limit::shared(0.15, 1e-5));
}

TEST(share_test, compares_plainly_without_certainty) {
  const share_test reached(0.15, std::nullopt, 20, share_test::plain::reached);
  EXPECT_EQ(reached.trips_at(20), 3u);
  EXPECT_EQ(reached.trips_at(100), 15u);
  const share_test passed(0.01, std::nullopt, 20, share_test::plain::passed);
  EXPECT_EQ(passed.trips_at(50), 1u);
  EXPECT_EQ(passed.trips_at(100), 2u);
  EXPECT_EQ(passed.trips_at(1000), 11u);
}

TEST(share_test, trips_at_a_hundred_percent_when_all_fail) {
  const share_test all(1.0, std::nullopt, 20, share_test::plain::reached);
  EXPECT_TRUE(all.trips(20, 20));
  EXPECT_FALSE(all.trips(20, 19));
}

TEST(share_test, does_not_judge_fewer_than_the_minimum) {
  for (const auto certainty : {std::optional<double>(0.9999), std::optional<double>()}) {
    const share_test test(0.15, certainty, 20, share_test::plain::reached);
    EXPECT_FALSE(test.trips(19, 19));
    EXPECT_TRUE(test.trips(20, 20));
  }
}

}  // namespace
}  // namespace switchgear::breaker
