#include "app/demo_reading.hpp"

#include <gtest/gtest.h>

namespace switchgear::app {
namespace {

using std::chrono::milliseconds;

TEST(demo_answer, of_the_primary_has_no_marker) {
  const auto seen = read_answer(R"({"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"ok"}]}})", 7);

  ASSERT_TRUE(seen);
  EXPECT_TRUE(seen->answered);
  EXPECT_FALSE(seen->is_error);
  EXPECT_EQ(seen->served_by, "primary");
  EXPECT_EQ(seen->text, "ok");
}

TEST(demo_answer, of_a_stand_in_says_who_stood_in) {
  const auto seen = read_answer(
      R"({"jsonrpc":"2.0","id":7,"result":{"content":[],"_meta":{"dev.switchgear/call":{"served_by":"cache","reason":"open"}}}})",
      7);

  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->served_by, "cache");
  EXPECT_TRUE(seen->refused);
}

TEST(demo_answer, may_be_an_error_for_the_model) {
  const auto seen = read_answer(R"({"jsonrpc":"2.0","id":7,"result":{"content":[],"isError":true}})", 7);

  ASSERT_TRUE(seen);
  EXPECT_TRUE(seen->is_error);
}

TEST(demo_answer, is_none_unless_it_answers_this_call) {
  for (const char* body : {"", "<html>", "[]", "null", R"({"id":7})", R"({"id":8,"result":{}})", R"({"result":{}})",
                           R"({"id":"7","result":{}})", R"({"id":7,"result":[]})", R"({"id":-7,"result":{}})",
                           R"({"id":7.5,"result":{}})", R"({"id":7,"error":{"code":-32603,"message":"x"}})"}) {
    EXPECT_FALSE(read_answer(body, 7)) << body;
  }
}

TEST(demo_circuits, show_the_worse_of_tool_and_server) {
  const auto seen = read_circuits(R"({"circuits": [
      {"name": "backup__forecast", "kind": "tool", "upstream": "backup", "state": "open"},
      {"name": "server:weather", "kind": "server", "upstream": "weather", "state": "open", "retry_after_ms": 900,
       "reason": "unreachable"},
      {"name": "weather__now", "kind": "tool", "upstream": "weather", "state": "closed", "error_rate": 0.25,
       "p99_ms": 12.5, "limit": {"error_rate": 0.15, "p99_ms": 300}}], "upstreams": []})");

  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->state, "open");
  EXPECT_EQ(seen->scope, "server:weather");
  EXPECT_EQ(seen->retry_after, milliseconds(900));
  EXPECT_EQ(seen->reason, "unreachable");
  EXPECT_DOUBLE_EQ(seen->error_limit, 0.15);
  EXPECT_EQ(seen->p99_limit, milliseconds(300));
}

TEST(demo_circuits, prefer_the_tool_when_both_are_alike) {
  const auto seen = read_circuits(R"({"circuits": [
      {"name": "server:weather", "kind": "server", "upstream": "weather", "state": "half_open"},
      {"name": "weather__now", "kind": "tool", "upstream": "weather", "state": "half_open"}]})");

  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->scope, "weather__now");
}

TEST(demo_circuits, are_closed_before_the_first_call) {
  const auto seen = read_circuits(R"({"circuits": []})");

  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->state, "closed");
}

TEST(demo_circuits, are_nothing_when_they_cannot_be_read) {
  for (const char* body : {"", "{}", "[]", R"({"circuits": 1})"}) EXPECT_FALSE(read_circuits(body)) << body;
}

}  // namespace
}  // namespace switchgear::app
