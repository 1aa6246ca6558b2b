#include "upstream/child_restarts.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace switchgear::upstream {
namespace {

using namespace std::chrono_literals;

constexpr time_point begin{1000s};
constexpr time_point never = time_point::max();

TEST(child_that_keeps_failing, is_started_after_doubling_pauses_up_to_thirty_seconds) {
  child_restarts restarts;
  time_point now = begin;

  for (duration pause : {duration(500ms), duration(1s), duration(2s), duration(4s), duration(8s), duration(16s),
                         duration(30s), duration(30s)}) {
    restarts.started(now);
    restarts.ended(now, never, 0.0);
    EXPECT_EQ(restarts.due() - now, pause);
    now = restarts.due();
  }
  EXPECT_EQ(restarts.failures(), 8U);
}

TEST(child_that_keeps_failing, has_each_pause_shortened_by_chance_by_up_to_a_quarter) {
  child_restarts restarts;

  restarts.started(begin);
  restarts.ended(begin, never, 0.999);

  EXPECT_LT(restarts.due() - begin, 376ms);
  EXPECT_GT(restarts.due() - begin, 375ms);
}

TEST(child_that_keeps_failing, is_started_at_most_ten_times_in_any_minute_even_on_demand) {
  child_restarts restarts;
  std::vector<time_point> starts;

  for (time_point now = begin; now < begin + 10min; now += 100ms) {
    if (now < restarts.due() && !restarts.may_start_early(now)) continue;
    starts.push_back(now);
    restarts.started(now);
    restarts.ended(now, never, 0.99);
  }

  for (std::size_t at = 10; at < starts.size(); ++at) EXPECT_GE(starts[at] - starts[at - 10], 60s) << at;
  EXPECT_GT(starts.size(), 50U);  // demand keeps it from the slowest pace
}

TEST(child_that_served, keeps_its_pause_unless_it_was_steady) {
  child_restarts restarts;
  restarts.ended(begin, never, 0.0);
  restarts.ended(begin, never, 0.0);

  restarts.ended(begin + 59s, begin, 0.0);
  EXPECT_EQ(restarts.due() - (begin + 59s), 2s);

  restarts.ended(begin + 120s, begin + 60s, 0.0);
  EXPECT_EQ(restarts.due() - (begin + 120s), 500ms);
  EXPECT_EQ(restarts.failures(), 1U);
}

}  // namespace
}  // namespace switchgear::upstream
