// A tool that takes an idempotency key may be called again: it knows the call. RC-067.
#include "unit/call/gateway.hpp"

#include <set>

namespace switchgear::call {
namespace {

using port::fault;
using test::reply_of;

struct keyed_tool : testing::Test {
  gateway gate;

  keyed_tool() {
    gate.policy().idempotency_key = "request_id";
    gate.policy().retry = {.attempts = 3, .backoff = 1ms, .longest_pause = 2ms};
  }
  std::string key(std::size_t call) const {
    return std::string(boost::json::parse(gate.search.calls().at(call).arguments).at("request_id").as_string());
  }
};

TEST_F(keyed_tool, is_called_again_with_the_same_key_when_an_answer_was_lost) {
  gate.search.answer(reply_of(fault::lost));
  gate.search.answer(good_answer);

  EXPECT_EQ(gate.ask(R"({"q":1})").words(), "fine");

  ASSERT_EQ(gate.search.calls().size(), 2u);
  EXPECT_EQ(gate.search.calls()[0].arguments, gate.search.calls()[1].arguments);
  EXPECT_GT(key(0).size(), 32u);
  EXPECT_EQ(boost::json::parse(gate.search.calls()[0].arguments).at("q").as_int64(), 1);
}

TEST_F(keyed_tool, gets_another_key_with_each_call) {
  std::set<std::string> keys;
  for (std::size_t i = 0; i < 50; ++i) {
    gate.search.answer(good_answer);
    gate.ask(i % 2 == 0 ? "{}" : R"({ "q" : [1] })");
    keys.insert(key(i));
  }
  EXPECT_EQ(keys.size(), 50u);
}

TEST_F(keyed_tool, keeps_the_key_that_its_caller_chose) {
  gate.search.answer(reply_of(fault::lost));
  gate.search.answer(good_answer);

  gate.ask(R"({"request_id":"mine","q":1})");

  ASSERT_EQ(gate.search.calls().size(), 2u);
  for (const auto& call : gate.search.calls()) EXPECT_EQ(call.arguments, R"({"request_id":"mine","q":1})");
}

TEST_F(keyed_tool, gets_its_key_when_the_call_has_no_arguments_at_all) {
  gate.search.answer(good_answer);
  gate.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search__query"}})");
  EXPECT_FALSE(key(0).empty());
}

TEST_F(keyed_tool, is_not_called_again_where_the_caller_left_the_key_out_on_purpose) {
  gate.search.answer(reply_of(fault::lost));
  EXPECT_TRUE(gate.ask(R"({"request_id":null})").is_error());
  EXPECT_EQ(gate.search.calls().size(), 1u);
}

// Another tool does not know the key: it would do the same thing once more.
TEST_F(keyed_tool, is_not_followed_by_another_tool_when_it_may_have_acted) {
  gate.policy().fallback.steps = {cascade::tool_step{"backup__query", ""}};
  for (int i = 0; i < 3; ++i) gate.search.answer(reply_of(fault::lost));

  EXPECT_TRUE(gate.ask().is_error());

  EXPECT_EQ(gate.search.calls().size(), 3u);
  EXPECT_TRUE(gate.backup.calls().empty());
}

TEST_F(keyed_tool, may_have_acted_in_any_of_its_tries) {
  gate.policy().fallback.steps = {cascade::tool_step{"backup__query", ""}};
  gate.search.answer(reply_of(fault::lost));
  for (int i = 0; i < 2; ++i) gate.search.answer(reply_of(fault::connect_failed));

  const heard answer = gate.ask();

  EXPECT_EQ(gate.search.calls().size(), 3u);
  EXPECT_TRUE(gate.backup.calls().empty());
  EXPECT_NE(answer.marker().find(R"("outcome":"unknown")"), std::string::npos) << answer.marker();
}

TEST(a_tool, may_say_itself_which_argument_is_its_idempotency_key) {
  gateway gate(
      R"([{"name":"query","inputSchema":{"type":"object"},"_meta":{"dev.switchgear/idempotency_key":"once"}}])");
  gate.policy().retry = {.attempts = 2, .backoff = 1ms, .longest_pause = 2ms};
  gate.search.answer(reply_of(fault::lost));
  gate.search.answer(good_answer);

  EXPECT_EQ(gate.ask().words(), "fine");

  EXPECT_TRUE(boost::json::parse(gate.search.calls().at(1).arguments).as_object().contains("once"));
}

}  // namespace
}  // namespace switchgear::call
