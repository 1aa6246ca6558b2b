// A second try beside a slow first one: never of a tool that writes, never beyond the budget, never two answers.
#include "unit/call/gateway.hpp"

namespace switchgear::call {
namespace {

using test::reply_of;

constexpr std::string_view other_answer =
    R"({"jsonrpc":"2.0","id":77,"result":{"content":[{"type":"text","text":"the second"}]}})";

/// A gateway that knows the tool to answer in a millisecond, and hedges after 20.
struct hedging : testing::Test {
  gateway gate{reading_tool};

  hedging() {
    gate.policy().hedge = {.quantile = 0.95, .least = 20ms};
    for (int i = 0; i < 100; ++i) gate.latency.add(1ms);
  }
};

TEST_F(hedging, gives_the_answer_of_the_second_try_when_the_first_hangs) {
  gate.search.hang();
  gate.search.answer(other_answer);

  const heard answer = gate.ask("{}", "5");

  EXPECT_EQ(answer.words(), "the second");
  EXPECT_EQ(answer.json.at("id").as_int64(), 5);
  EXPECT_FALSE(answer.degraded);
  EXPECT_EQ(gate.search.calls().size(), 2u);
  EXPECT_EQ(gate.search.calls()[0].arguments, gate.search.calls()[1].arguments);
  EXPECT_TRUE(gate.recorder.calls.at(0).hedged);
  // The first was given up by us: that says nothing of the tool.
  EXPECT_EQ(gate.counted("search__query"), (breaker::counts{.calls = 1, .timed = 1}));
}

TEST_F(hedging, sends_nothing_twice_while_answers_come_as_usual) {
  for (int i = 0; i < 20; ++i) {
    gate.search.answer(good_answer);
    gate.ask();
  }
  EXPECT_EQ(gate.search.calls().size(), 20u);
  EXPECT_FALSE(gate.recorder.calls.back().hedged);
}

TEST_F(hedging, keeps_the_first_answer_and_gives_the_second_try_up) {
  gate.search.signs.assign(10, async::interrupt::sign::progress);
  gate.search.between_signs = 10ms;
  gate.search.answer(good_answer);
  // The fake answers the second call from the script as well: it hangs until it is given up.
  gate.search.hang();

  const heard answer = gate.ask();

  EXPECT_EQ(gate.search.calls().size(), 2u);
  EXPECT_FALSE(answer.is_error());
  EXPECT_EQ(gate.counted("search__query").failures, 0u);
}

TEST_F(hedging, waits_for_the_second_try_when_the_first_fails_meanwhile) {
  gate.search.signs.assign(4, async::interrupt::sign::progress);
  gate.search.between_signs = 10ms;
  gate.search.hang();
  gate.policy().timeout.total = 45ms;
  gate.list(reading_tool, plain_tool);
  gate.search.answer(other_answer);

  EXPECT_EQ(gate.ask().words(), "the second");
}

TEST_F(hedging, never_touches_a_tool_that_may_write) {
  for (const std::string_view tool :
       {plain_tool,
        std::string_view(
            R"([{"name":"query","inputSchema":{"type":"object"},"annotations":{"idempotentHint":true}}])")}) {
    gate.list(tool, plain_tool);
    gate.policy().deadline = 80ms;
    gate.search.hang();
    const std::size_t before = gate.search.calls().size();

    EXPECT_TRUE(gate.ask().is_error());

    EXPECT_EQ(gate.search.calls().size(), before + 1);
  }
}

TEST_F(hedging, stops_with_the_budget_that_it_shares_with_retries) {
  gate.policy().deadline = 60ms;
  while (gate.search_retries.take()) {
  }
  gate.search.hang();

  EXPECT_TRUE(gate.ask().is_error());

  EXPECT_EQ(gate.search.calls().size(), 1u);
}

TEST_F(hedging, ends_both_tries_when_the_client_hangs_up) {
  gate.cancel_after = 60ms;
  gate.search.hang();
  gate.search.hang();

  gate.ask();

  EXPECT_EQ(gate.search.calls().size(), 2u);
  EXPECT_EQ(gate.counted("search__query").calls, 0u);
}

TEST_F(hedging, fails_once_when_both_tries_run_into_the_deadline) {
  gate.policy().deadline = 80ms;
  gate.search.hang();
  gate.search.hang();

  const heard answer = gate.ask();

  EXPECT_TRUE(answer.is_error());
  EXPECT_EQ(gate.counted("search__query").failures, 2u);
}

TEST_F(hedging, leaves_nothing_behind_when_the_gateway_ends_with_both_tries_under_way) {
  gate.search.hang();
  gate.search.hang();
  gate.ask_and_vanish(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search__query","arguments":{}}})");
}

}  // namespace
}  // namespace switchgear::call
