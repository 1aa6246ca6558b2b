// Answers that other replicas keep stand in where this gateway has none of its own.
#include "unit/call/gateway.hpp"

namespace switchgear::call {
namespace {

using cascade::cache_step;
using cascade::fixed_step;
using cascade::stored_answer;

struct shared_scene : testing::Test {
  gateway gate{reading_tool};

  void SetUp() override {
    gate.shares_answers = true;
    gate.policy().fallback.steps = {cache_step{10min}};
  }
  /// What this gateway was answered is known to the others alone.
  void forget() {
    for (const auto& [key, kept] : gate.shared.all) {
      gate.answers.store(key, std::string(2 << 20, 'x'), async::worker::now() + 1s);  // too large: it goes
    }
    ASSERT_EQ(gate.answers.size(), 0U);
  }
  void answer_once_and_fail() {
    gate.search.answer(good_answer);
    gate.ask();
    forget();
    gate.breakers.open("search__query", 1s, 21s);
  }
  static std::string steps(const heard& answer) {
    return boost::json::serialize(answer.result().at("_meta").at(cascade::marker_key).at("steps"));
  }
};

using a_shared_answer = shared_scene;

TEST_F(a_shared_answer, stands_in_with_its_own_age) {
  answer_once_and_fail();
  for (auto& [key, kept] : gate.shared.all) kept.age = 90s;

  const heard answer = gate.ask();

  EXPECT_EQ(answer.words(), "fine");
  const auto& marker = answer.result().at("_meta").at(cascade::marker_key);
  EXPECT_EQ(marker.at("served_by").as_string(), "cache");
  EXPECT_EQ(marker.at("age_ms").as_int64(), 90'000);
  EXPECT_EQ(steps(answer), R"(["primary:refused","cache:hit"])");
  EXPECT_EQ(gate.recorder.calls[1].stored, stored_answer::shared);
  EXPECT_EQ(gate.answers.size(), 0U) << "nor does it become this gateway's own, as young as this call";
}

TEST_F(a_shared_answer, is_kept_for_as_long_as_some_step_gives_it) {
  gate.policy().fallback.steps = {cache_step{1min}, cache_step{.max_age = 1h},
                                  cache_step{.max_age = 2h, .share = cascade::share::all}};
  gate.search.answer(good_answer);
  gate.ask();

  ASSERT_EQ(gate.shared.all.size(), 2U);
  std::vector<duration> lives;
  for (const auto& [key, kept] : gate.shared.all) {
    EXPECT_EQ(kept.result, good_result);
    lives.push_back(kept.life);
  }
  std::ranges::sort(lives);
  EXPECT_EQ(lives, (std::vector<duration>{1h, 2h}));
}

TEST_F(a_shared_answer, is_asked_for_only_when_there_is_none_in_memory) {
  gate.search.answer(good_answer);
  gate.ask();
  gate.breakers.open("search__query", 1s, 21s);

  EXPECT_EQ(gate.ask().words(), "fine");
  EXPECT_EQ(gate.shared.looks, 0U);
  EXPECT_TRUE(gate.ask(R"({"a":1})").is_error());
  EXPECT_EQ(gate.shared.looks, 1U);
  EXPECT_EQ(gate.recorder.calls[2].stored, stored_answer::missing);
}

TEST_F(a_shared_answer, that_is_too_old_is_none) {
  answer_once_and_fail();
  for (auto& [key, kept] : gate.shared.all) kept.age = 10min + 1ms;

  EXPECT_TRUE(gate.ask().is_error());
}

TEST_F(a_shared_answer, that_is_rubbish_is_none) {
  gate.policy().fallback.steps = {cache_step{10min}, fixed_step{"sorry", ""}};
  answer_once_and_fail();
  for (const char* rubbish : {"", "x", "{", "[]", "{}{}", "null", "{\"a\":}"}) {
    for (auto& [key, kept] : gate.shared.all) kept.result = rubbish;
    EXPECT_EQ(gate.ask().words(), "sorry") << rubbish;
  }
}

// RC-055.
TEST_F(a_shared_answer, is_never_anothers) {
  gate.principal = "ann";
  answer_once_and_fail();

  gate.principal = "bob";
  EXPECT_TRUE(gate.ask().is_error());
  gate.principal = "";
  EXPECT_TRUE(gate.ask().is_error());
  gate.principal = "ann";
  EXPECT_FALSE(gate.ask().is_error());
}

TEST_F(a_shared_answer, is_everybodys_where_the_operator_says_so) {
  gate.policy().fallback.steps = {cache_step{.max_age = 10min, .share = cascade::share::all}};
  gate.principal = "ann";
  answer_once_and_fail();
  gate.principal = "bob";

  EXPECT_FALSE(gate.ask().is_error());
}

// RC-071.
TEST_F(a_shared_answer, is_never_what_may_not_be_given_again) {
  gate.policy().fallback.steps = {cache_step{10min}, fixed_step{"sorry", ""}};
  gate.search.answer(R"({"jsonrpc":"2.0","id":7,"result":{"content":[],"isError":true}})");
  gate.search.answer(R"({"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"m"}})");
  gate.search.answer(test::reply_of(port::fault::lost));
  gate.search.answer(test::reply_of(port::fault::too_large, 200));
  for (int i = 0; i < 4; ++i) gate.ask();

  EXPECT_TRUE(gate.shared.all.empty());
}

TEST_F(a_shared_answer, is_not_kept_of_a_tool_that_may_write) {
  gateway writes(plain_tool);
  writes.shares_answers = true;
  writes.policy().fallback.steps = {cache_step{10min}};
  writes.search.answer(good_answer);
  writes.ask();
  writes.breakers.open("search__query", 1s, 21s);
  writes.ask();

  EXPECT_TRUE(writes.shared.all.empty());
  EXPECT_EQ(writes.shared.looks, 0U);
}

TEST_F(a_shared_answer, is_not_fresh) {
  gate.policy().fallback.steps = {cache_step{.max_age = 10min, .fresh_for = 5min}};
  gate.search.answer(good_answer);
  gate.ask();
  forget();
  gate.search.answer(good_answer);
  gate.ask();

  EXPECT_EQ(gate.search.calls().size(), 2U);
  EXPECT_EQ(gate.shared.looks, 0U);
}

TEST_F(a_shared_answer, that_comes_too_late_is_passed_over) {
  gate.policy().deadline = 200ms;
  gate.policy().fallback.steps = {cache_step{10min}, fixed_step{"sorry", ""}};
  answer_once_and_fail();
  gate.shared.delay = 2s;

  const auto before = async::worker::now();
  const heard answer = gate.ask();

  EXPECT_LT(async::worker::now() - before, 1s);
  EXPECT_EQ(steps(answer), R"(["primary:refused","cache:miss","static:hit"])");
}

TEST_F(a_shared_answer, is_found_though_the_primary_hangs) {
  gate.policy().deadline = 400ms;
  gate.search.answer(good_answer);
  gate.ask();
  forget();
  gate.shared.delay = 5ms;
  gate.search.hang();

  const heard answer = gate.ask();

  EXPECT_EQ(answer.words(), "fine");
  EXPECT_EQ(steps(answer), R"(["primary:timeout","cache:hit"])");
}

TEST_F(a_shared_answer, stops_with_the_call_that_waits_for_it) {
  gate.policy().fallback.steps = {cache_step{10min}, cascade::tool_step{"backup__query", ""}};
  answer_once_and_fail();
  gate.backup.answer(good_answer);
  gate.shared.delay = 4s;
  gate.cancel_after = 20ms;

  const auto before = async::worker::now();
  EXPECT_TRUE(gate.ask().is_error());

  EXPECT_LT(async::worker::now() - before, 2s);
  EXPECT_TRUE(gate.backup.calls().empty());
}

TEST_F(a_shared_answer, leaves_nothing_behind_when_the_gateway_ends_meanwhile) {
  answer_once_and_fail();
  gate.shared.delay = 4s;
  gate.ask_and_vanish(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search__query"}})");
  EXPECT_EQ(gate.shared.looks, 1U);
}

}  // namespace
}  // namespace switchgear::call
