#include "observe/tool_counters.hpp"

#include <gtest/gtest.h>

namespace switchgear::observe {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

TEST(latency_bucket, holds_its_upper_end_and_nothing_above) {
  for (std::size_t i = 0; i < bucket_ends.size(); ++i) {
    EXPECT_EQ(bucket_of(bucket_ends[i]), i);
    EXPECT_EQ(bucket_of(bucket_ends[i] + nanoseconds(1)), i + 1);
  }
}

TEST(latency_bucket, takes_lengths_beyond_every_end) {
  EXPECT_EQ(bucket_of(duration::max()), bucket_count - 1);
  EXPECT_EQ(bucket_of(duration::zero()), 0u);
}

TEST(tool_counter, adds_each_side_of_a_record) {
  tool_counters counters;

  counters.add({.served_by = cascade::served_by::cache,
                .reason = cascade::reason::open,
                .refused = true,
                .took = milliseconds(3)});
  counters.add({.served_by = cascade::served_by::primary, .is_error = true, .slow = true, .took = milliseconds(1600)});

  tool_totals sum;
  counters.add_to(sum);
  EXPECT_EQ(sum.calls[static_cast<unsigned>(cascade::served_by::cache)][static_cast<unsigned>(cascade::reason::open)],
            1u);
  EXPECT_EQ(sum.calls[static_cast<unsigned>(cascade::served_by::primary)][static_cast<unsigned>(cascade::reason::none)],
            1u);
  EXPECT_EQ(sum.all_calls(), 2u);
  EXPECT_EQ(sum.took_ns, 1'603'000'000u);
  EXPECT_EQ(sum.is_error, 1u);
  EXPECT_EQ(sum.refused, 1u);
  EXPECT_EQ(sum.slow, 1u);
}

TEST(tool_counter, takes_a_negative_length_as_none) {
  tool_counters counters;

  counters.add({.took = nanoseconds(-5)});

  tool_totals sum;
  counters.add_to(sum);
  EXPECT_EQ(sum.took_ns, 0u);
  EXPECT_EQ(sum.took[0], 1u);
}

TEST(tool_counter, shares_no_cache_line_with_another) {
  EXPECT_EQ(alignof(tool_counters) % 64, 0u);
  EXPECT_EQ(sizeof(tool_counters) % 64, 0u);
}

}  // namespace
}  // namespace switchgear::observe
