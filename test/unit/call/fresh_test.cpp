// Answers that are fresh enough are given without a call.
#include "unit/call/gateway.hpp"

namespace switchgear::call {
namespace {

using cascade::cache_step;
using cascade::served_by;
using cascade::stored_answer;

constexpr std::string_view failing_answer = R"({"jsonrpc":"2.0","id":7,"result":{"content":[],"isError":true}})";

struct fresh_scene : testing::Test {
  gateway gate{reading_tool};

  void SetUp() override { gate.policy().fallback.steps = {cache_step{.max_age = 10min, .fresh_for = 1min}}; }
};

using a_fresh_answer = fresh_scene;

TEST_F(a_fresh_answer, spares_the_call_and_says_so) {
  gate.policy().note = true;
  gate.search.answer(good_answer);
  gate.ask(R"({"a":1,"b":2})");

  const heard answer = gate.ask(R"({"b":2,"a":1})", "\"two\"");

  EXPECT_EQ(gate.search.calls().size(), 1U);
  EXPECT_FALSE(answer.degraded);
  EXPECT_EQ(answer.json.at("id").as_string(), "two");
  EXPECT_EQ(answer.result().at("content").as_array().size(), 1U) << "no note";
  const auto& marker = answer.result().at("_meta").at(cascade::marker_key).as_object();
  EXPECT_EQ(marker.size(), 3U);
  EXPECT_EQ(marker.at("served_by").as_string(), "cache");
  EXPECT_FALSE(marker.at("degraded").as_bool());
  EXPECT_LT(marker.at("age_ms").as_int64(), 5000);
}

TEST_F(a_fresh_answer, is_counted_as_one_and_no_breaker_hears_of_it) {
  gate.search.answer(good_answer);
  gate.ask();
  const breaker::counts before = gate.counted("search__query");

  gate.ask();

  ASSERT_EQ(gate.recorder.calls.size(), 2U);
  EXPECT_EQ(gate.recorder.calls[0].stored, stored_answer::unasked);
  EXPECT_EQ(gate.recorder.calls[1].stored, stored_answer::fresh);
  EXPECT_EQ(gate.recorder.calls[1].served_by, served_by::cache);
  EXPECT_EQ(gate.recorder.calls[1].reason, cascade::reason::none);
  EXPECT_EQ(gate.recorder.calls[1].retries, 0U);
  EXPECT_EQ(before.calls, 1U);
  EXPECT_EQ(gate.counted("search__query"), breaker::counts{});
}

TEST_F(a_fresh_answer, is_given_while_the_breaker_is_open_too) {
  gate.search.answer(good_answer);
  gate.ask();
  gate.breakers.open("search__query", 1s, 21s);

  EXPECT_EQ(gate.ask().marker().find(R"({"degraded":false,"served_by":"cache","age_ms":)"), 0U);
}

TEST_F(a_fresh_answer, is_not_given_once_it_is_older_but_stands_in) {
  gate.policy().fallback.steps = {cache_step{.max_age = 10min, .fresh_for = 1ns}};
  gate.search.answer(good_answer);
  gate.search.answer(good_answer);
  gate.ask();
  gate.ask();
  EXPECT_EQ(gate.search.calls().size(), 2U);
  gate.breakers.open("search__query", 1s, 21s);

  EXPECT_TRUE(gate.ask().degraded);
}

TEST_F(a_fresh_answer, is_none_without_the_key) {
  gate.policy().fallback.steps = {cache_step{10min}};
  gate.search.answer(good_answer);
  gate.search.answer(good_answer);
  gate.ask();
  gate.ask();

  EXPECT_EQ(gate.search.calls().size(), 2U);
}

TEST_F(a_fresh_answer, is_none_of_a_tool_that_may_write) {
  gateway writes(plain_tool);
  writes.policy().fallback.steps = {cache_step{.max_age = 10min, .fresh_for = 1min}};
  writes.search.answer(good_answer);
  writes.search.answer(good_answer);
  writes.ask();
  writes.ask();

  EXPECT_EQ(writes.search.calls().size(), 2U);
}

// RC-071, RC-055.
TEST_F(a_fresh_answer, is_never_an_error_nor_anothers) {
  gate.search.answer(failing_answer);
  gate.search.answer(good_answer);
  gate.search.answer(good_answer);
  gate.principal = "ann";
  EXPECT_TRUE(gate.ask().is_error());
  EXPECT_FALSE(gate.ask().is_error());
  gate.principal = "bob";
  gate.ask();
  EXPECT_EQ(gate.search.calls().size(), 3U);

  gate.ask();
  gate.principal = "ann";
  gate.ask();

  EXPECT_EQ(gate.search.calls().size(), 3U);
}

TEST_F(a_fresh_answer, is_that_of_everybody_where_the_step_says_so) {
  gate.policy().fallback.steps = {cache_step{10min},
                                  cache_step{.max_age = 10min, .fresh_for = 1min, .share = cascade::share::all}};
  gate.search.answer(good_answer);
  gate.principal = "ann";
  gate.ask();
  gate.principal = "bob";
  gate.ask();

  EXPECT_EQ(gate.search.calls().size(), 1U);
}

TEST_F(a_fresh_answer, is_not_given_in_a_dialogue) {
  gate.asker.era = protocol::era::modern;
  gate.search.answer(good_answer);
  gate.search.answer(good_answer);
  gate.ask();

  gate.send(R"({"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"search__query","arguments":{},)"
            R"("inputResponses":{"q":{"action":"accept"}}}})");

  EXPECT_EQ(gate.search.calls().size(), 2U);
}

}  // namespace
}  // namespace switchgear::call
