#include "peers/redis/complaints.hpp"

#include <gtest/gtest.h>

namespace switchgear::peers::redis {
namespace {

using namespace std::chrono_literals;

constexpr time_point start{1000h};

TEST(complaints, name_the_first_scope_at_once) {
  complaints all;
  all.lost("search__query", "WRONGTYPE");
  const auto line = all.due(start);
  ASSERT_TRUE(line);
  EXPECT_FALSE(line->healed);
  EXPECT_EQ(line->text, "search__query: WRONGTYPE");
  EXPECT_FALSE(all.due(start));
}

TEST(complaints, are_one_line_each_ten_seconds_however_many_scopes_have_them) {
  // given
  complaints all;
  all.lost("a", "OOM");
  EXPECT_TRUE(all.due(start));
  // when
  for (int i = 0; i < 1000; ++i) all.lost("b" + std::to_string(i), "OOM");
  // then
  EXPECT_FALSE(all.due(start + 9s));
  const auto line = all.due(start + 10s);
  ASSERT_TRUE(line);
  EXPECT_EQ(line->text, "b0: OOM (and 999 more scopes)");
  EXPECT_FALSE(all.due(start + 10s));
}

TEST(complaints, do_not_mention_what_was_over_before_it_was_told) {
  complaints all;
  all.lost("a", "OOM");
  EXPECT_TRUE(all.due(start));
  all.lost("b", "OOM");
  all.found("b", "after 10 ms alone");
  EXPECT_FALSE(all.due(start + 20s));
}

TEST(complaints, end_with_a_line_too) {
  complaints all;
  all.lost("a", "OOM");
  EXPECT_TRUE(all.due(start));
  all.found("a", "after 5 ms alone");
  const auto line = all.due(start);
  ASSERT_TRUE(line);
  EXPECT_TRUE(line->healed);
  EXPECT_EQ(line->text, "a: after 5 ms alone");
}

TEST(complaints, say_nothing_new_of_a_scope_that_was_well_for_a_moment) {
  complaints all;
  all.lost("a", "OOM");
  EXPECT_TRUE(all.due(start));
  all.found("a", "after 5 ms alone");
  EXPECT_TRUE(all.due(start));
  all.lost("a", "OOM");
  all.found("a", "after 5 ms alone");
  all.lost("a", "OOM");
  const auto line = all.due(start + 10s);
  ASSERT_TRUE(line);
  EXPECT_FALSE(line->healed);
  EXPECT_FALSE(all.due(start + 20s));
}

}  // namespace
}  // namespace switchgear::peers::redis
