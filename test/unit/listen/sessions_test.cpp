#include "listen/sessions.hpp"

#include <gtest/gtest.h>

#include <set>

namespace switchgear::listen {
namespace {

using namespace std::chrono_literals;

const time_point start{1h};

TEST(sessions, knows_the_revision_of_a_live_session) {
  sessions live(1min, 10);
  const auto id = live.create("2025-06-18", start);
  ASSERT_TRUE(id);
  EXPECT_EQ(live.find(*id, start), "2025-06-18");
  EXPECT_FALSE(live.find("0123456789abcdef0123456789abcdef", start));
}

TEST(sessions, forgets_what_has_been_idle_too_long_and_not_what_is_used) {
  sessions live(1min, 10);
  const auto used = live.create("2025-06-18", start);
  const auto idle = live.create("2025-06-18", start);
  EXPECT_TRUE(live.find(*used, start + 50s));
  EXPECT_TRUE(live.find(*used, start + 100s));
  EXPECT_FALSE(live.find(*idle, start + 100s));
  live.sweep(start + 100s);
  EXPECT_EQ(live.count(), 1u);
}

TEST(sessions, ends_a_session_once) {
  sessions live(1min, 10);
  const auto id = live.create("2025-06-18", start);
  EXPECT_TRUE(live.end(*id));
  EXPECT_FALSE(live.end(*id));
  EXPECT_FALSE(live.find(*id, start));
}

TEST(sessions, refuses_more_than_its_limit_until_some_are_idle) {
  sessions live(1min, 3);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(live.create("2025-06-18", start));
  EXPECT_FALSE(live.create("2025-06-18", start + 30s));
  EXPECT_TRUE(live.create("2025-06-18", start + 61s));
}

TEST(sessions, has_ids_of_visible_characters_that_do_not_repeat) {
  sessions live(1min, 2000);
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const auto id = live.create("2025-06-18", start);
    EXPECT_EQ(id->size(), 32u);
    EXPECT_EQ(id->find_first_not_of("0123456789abcdef"), std::string::npos);
    seen.insert(*id);
  }
  EXPECT_EQ(seen.size(), 1000u);
}

}  // namespace
}  // namespace switchgear::listen
