#include "listen/sessions.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchgear::listen {
namespace {

using namespace std::chrono_literals;

const time_point start{1h};

class a_table_of_sessions : public testing::Test {
 protected:
  std::shared_ptr<session> add(std::string id, time_point now = start) {
    return live.add(std::move(id), {.revision = "2025-06-18"}, now);
  }

  std::vector<std::string> ended;
  sessions live{1min, 3, [this](session& one) { ended.push_back(one.id()); }};
};

TEST_F(a_table_of_sessions, finds_a_live_session) {
  const auto one = add("one");
  EXPECT_EQ(live.find("one", start), one);
  EXPECT_EQ(one->revision(), "2025-06-18");
  EXPECT_EQ(live.find("other", start), nullptr);
}

TEST_F(a_table_of_sessions, keeps_the_session_that_is_there_already) {
  const auto one = add("one");
  EXPECT_EQ(add("one"), one);
  EXPECT_EQ(live.count(), 1u);
}

TEST_F(a_table_of_sessions, forgets_what_has_been_idle_too_long_and_not_what_is_used) {
  const auto used = add("used");
  add("idle");
  used->use(start + 50s, 15s);
  live.sweep(start + 100s);
  EXPECT_EQ(live.find("used", start + 100s), used);
  EXPECT_EQ(live.find("idle", start + 100s), nullptr);
  EXPECT_EQ(ended, std::vector<std::string>{"idle"});
}

TEST_F(a_table_of_sessions, finds_no_idle_session_even_before_it_is_swept_away) {
  add("idle");
  EXPECT_EQ(live.find("idle", start + 61s), nullptr);
  EXPECT_EQ(live.count(), 0u);
  EXPECT_EQ(ended, std::vector<std::string>{"idle"});
}

TEST_F(a_table_of_sessions, keeps_and_gives_a_session_whose_stream_is_open) {
  const auto streaming = add("streaming");
  streaming->stream() = 7;
  EXPECT_EQ(live.sweep(start + 1h), std::vector{streaming});
  EXPECT_EQ(live.find("streaming", start + 1h), streaming);
  streaming->stream() = 0;
  EXPECT_TRUE(live.sweep(start + 1h).empty());
  EXPECT_EQ(live.count(), 0u);
}

TEST_F(a_table_of_sessions, ends_a_session_once_and_remembers_that) {
  add("one");
  EXPECT_FALSE(live.ended("one"));
  EXPECT_TRUE(live.end("one"));
  EXPECT_FALSE(live.end("one"));
  EXPECT_EQ(live.find("one", start), nullptr);
  EXPECT_TRUE(live.ended("one"));
  EXPECT_EQ(ended.size(), 1u);
}

TEST_F(a_table_of_sessions, remembers_only_so_many_ends) {
  for (std::size_t i = 0; i <= sessions::most_remembered; ++i) live.end(std::to_string(i));
  EXPECT_FALSE(live.ended("0"));
  EXPECT_TRUE(live.ended("1"));
  EXPECT_TRUE(live.ended(std::to_string(sessions::most_remembered)));
}

TEST_F(a_table_of_sessions, takes_no_more_than_its_limit_until_some_are_idle) {
  for (const char* id : {"1", "2", "3"}) EXPECT_TRUE(add(id));
  EXPECT_EQ(add("4", start + 30s), nullptr);
  EXPECT_TRUE(add("4", start + 61s));
  EXPECT_EQ(ended.size(), 3u);
}

TEST(a_session, tells_of_its_use_at_once_and_then_now_and_then) {
  session one("one", {}, start);
  EXPECT_TRUE(one.use(start, 15s));
  EXPECT_FALSE(one.use(start + 14s, 15s));
  EXPECT_TRUE(one.use(start + 15s, 15s));
  EXPECT_EQ(one.used(), start + 15s);
}

TEST(a_session, has_the_log_level_that_its_client_set_last) {
  session one("one", {}, start);
  EXPECT_EQ(one.log_level(), "");
  EXPECT_TRUE(one.set_log_level(R"("debug")"));
  EXPECT_TRUE(one.set_log_level(R"("emergency")"));
  for (const char* bad : {R"("loud")", "debug", "3", "", R"("Debug")"}) EXPECT_FALSE(one.set_log_level(bad)) << bad;
  EXPECT_EQ(one.log_level(), R"("emergency")");
}

}  // namespace
}  // namespace switchgear::listen
