// A tool that asked for fewer calls is left alone, by this replica and by the others. RC-068.
#include "unit/call/gateway.hpp"

namespace switchgear::call {
namespace {

using cascade::fixed_step;
using cascade::tool_step;
using port::fault;
using test::reply_of;

port::reply throttled(std::optional<duration> retry_after, int status = 429) {
  port::reply made = reply_of(fault::bad_status, status, "slow down");
  made.retry_after = retry_after;
  return made;
}

std::int64_t retry_after_ms(const heard& answer) {
  return boost::json::parse(answer.marker()).at("retry_after_ms").as_int64();
}

TEST(a_tool_that_throttles, is_not_called_before_its_time) {
  gateway gate;
  gate.search.answer(throttled(30s));
  const heard first = gate.ask();
  EXPECT_EQ(retry_after_ms(first), 30'000);
  EXPECT_EQ(gate.retry_after, 30u);

  const heard second = gate.ask("{}", "5");

  EXPECT_EQ(gate.search.calls().size(), 1u);
  EXPECT_TRUE(second.is_error());
  EXPECT_EQ(second.json.at("id").as_int64(), 5);
  EXPECT_NE(second.marker().find(R"("reason":"throttled","state":"closed")"), std::string::npos) << second.marker();
  EXPECT_NE(second.marker().find(R"("steps":["primary:throttled"])"), std::string::npos) << second.marker();
  EXPECT_GT(retry_after_ms(second), 29'000);
  EXPECT_LE(retry_after_ms(second), 30'000);
  EXPECT_NE(second.words().find("it has asked for a pause. Retry in 30 s."), std::string::npos) << second.words();
}

TEST(a_tool_that_throttles, is_called_when_its_time_is_over) {
  gateway gate;
  gate.search.answer(throttled(20ms));
  gate.search.answer(good_answer);
  const time_point before = async::worker::now();
  gate.ask();
  while (gate.ask().is_error()) {
  }
  EXPECT_GE(async::worker::now() - before, 20ms);
  EXPECT_EQ(gate.search.calls().size(), 2u);
}

TEST(a_tool_that_throttles_one_caller_by_his_own_credential, answers_the_others) {
  gateway gate;
  gate.search.forwards_credentials = true;
  gate.search.answer(throttled(30s));
  gate.search.answer(good_answer);
  gate.principal = "alice";
  EXPECT_TRUE(gate.ask().is_error());

  gate.principal = "bob";
  EXPECT_EQ(gate.ask().words(), "fine");
  gate.principal = "alice";
  EXPECT_TRUE(gate.ask().is_error());

  EXPECT_EQ(gate.search.calls().size(), 2u);
}

TEST(a_tool_that_throttles, is_left_alone_for_a_bounded_time_whatever_it_says) {
  const std::pair<std::optional<duration>, std::int64_t> cases[] = {
      {std::nullopt, 1000}, {0s, 1000}, {-5s, 1000}, {999999s, 300'000}};
  for (const auto& [said, length] : cases) {
    gateway gate;
    gate.search.answer(throttled(said));
    EXPECT_EQ(retry_after_ms(gate.ask()), length);
    EXPECT_LE(retry_after_ms(gate.ask()), length);
    EXPECT_EQ(gate.search.calls().size(), 1u);
  }
}

TEST(a_tool_that_throttles, may_say_so_by_503_with_a_time) {
  gateway gate;
  gate.search.answer(throttled(10s, 503));
  gate.ask();
  gate.ask();
  EXPECT_EQ(gate.search.calls().size(), 1u);

  gateway other;
  other.search.answer(throttled(std::nullopt, 503));
  other.search.answer(good_answer);
  EXPECT_NE(other.ask().marker().find("upstream_error"), std::string::npos);
  EXPECT_EQ(other.ask().words(), "fine") << "a server that is broken asks for nothing";
}

TEST(a_tool_that_throttles, is_no_failure_for_its_breakers) {
  gateway gate;
  gate.search.answer(throttled(10s));
  for (int i = 0; i < 5; ++i) gate.ask();
  for (const char* scope : {"search__query", "server:search"}) {
    const breaker::counts counted = gate.counted(scope);
    EXPECT_EQ(counted.calls, 0u) << scope;
    EXPECT_EQ(counted.failures, 0u) << scope;
  }
}

TEST(a_tool_that_throttles, leaves_other_tools_alone) {
  gateway gate(R"([{"name":"query","inputSchema":{}},{"name":"other","inputSchema":{}}])");
  gate.search.answer(throttled(10s));
  gate.search.answer(good_answer);
  gate.ask();
  const heard other =
      gate.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search__other","arguments":{}}})");
  EXPECT_EQ(other.words(), "fine");
}

TEST(a_tool_that_throttles, is_stood_in_for_at_once) {
  gateway gate;
  gate.policy().fallback.steps = {tool_step{"backup__query", ""}, fixed_step{"fixed", ""}};
  gate.search.answer(throttled(10s));
  gate.backup.answer(good_answer);
  gate.backup.answer(throttled(10s));
  EXPECT_EQ(gate.ask().words(), "fine");

  // The second tool has a pause of its own.
  EXPECT_EQ(gate.ask().words(), "fixed");
  const heard third = gate.ask();
  EXPECT_EQ(third.words(), "fixed");
  EXPECT_NE(third.marker().find(R"("steps":["primary:throttled","tool:throttled","static:hit"])"), std::string::npos)
      << third.marker();
  EXPECT_EQ(gate.search.calls().size(), 1u);
  EXPECT_EQ(gate.backup.calls().size(), 2u);
}

TEST(a_tool_that_throttles, is_waited_for_when_it_has_retries_and_there_is_time) {
  gateway gate;
  gate.policy().retry = {.attempts = 2, .backoff = 1ms, .longest_pause = 1ms};
  gate.search.answer(throttled(40ms));
  gate.search.answer(good_answer);
  const time_point before = async::worker::now();
  EXPECT_EQ(gate.ask().words(), "fine");
  EXPECT_GE(async::worker::now() - before, 40ms);
}

TEST(a_call_that_was_held_back, has_cost_neither_a_try_nor_budget) {
  gateway gate;
  gate.policy().retry = {.attempts = 2, .backoff = 1ms, .longest_pause = 1ms};
  while (gate.search_retries.take()) {
  }
  gate.known();
  gate.others.hear("search__query", 40ms);
  gate.search.answer(good_answer);
  EXPECT_EQ(gate.ask().words(), "fine");
  EXPECT_EQ(gate.recorder.calls.at(0).retries, 0u);
  EXPECT_EQ(gate.search.calls().size(), 1u);
}

TEST(a_call_that_was_held_back, is_not_waited_for_beyond_its_deadline) {
  gateway gate;
  gate.policy().retry = {.attempts = 2, .backoff = 1ms, .longest_pause = 1ms};
  gate.policy().deadline = 200ms;
  gate.known();
  gate.others.hear("search__query", 1s);
  const time_point before = async::worker::now();
  EXPECT_NE(gate.ask().marker().find(R"("steps":["primary:throttled"])"), std::string::npos);
  EXPECT_LT(async::worker::now() - before, 150ms);
}

TEST(a_call_that_was_held_back, is_told_of_the_breaker_that_opened_meanwhile) {
  gateway gate;
  gate.policy().retry = {.attempts = 2, .backoff = 1ms, .longest_pause = 1ms};
  gate.known();
  gate.others.hear("search__query", 20ms);
  gate.breakers.open("search__query", 1s, 21s);
  EXPECT_NE(gate.ask().marker().find(R"("reason":"open")"), std::string::npos);
}

TEST(a_pause, is_told_to_the_other_replicas_as_a_length) {
  gateway gate;
  gate.search.answer(throttled(10s));
  gate.ask();
  gate.ask();
  ASSERT_EQ(gate.others.told.size(), 1u);
  EXPECT_EQ(gate.others.told[0].first, "search__query");
  EXPECT_EQ(gate.others.told[0].second, 10s);
}

TEST(a_pause, is_heard_of_from_another_replica_and_not_passed_on) {
  gateway gate;
  gate.others.hear("search__query", 10s);  // before the tool is listed
  const heard answer = gate.ask();
  EXPECT_TRUE(answer.is_error());
  EXPECT_LE(retry_after_ms(answer), 10'000);
  EXPECT_TRUE(gate.search.calls().empty());
  EXPECT_TRUE(gate.others.told.empty());
}

TEST(a_pause, of_another_credential_is_none_of_ours) {
  gateway gate;
  gate.search.answer(good_answer);
  gate.others.hear("search__query 00112233445566778899aabbccddeeff", 10s);
  EXPECT_EQ(gate.ask().words(), "fine");
}

TEST(a_pause, of_a_credential_does_not_tell_it) {
  test::fake_pauses others;
  pauses all(&others);
  const time_point now = async::worker::now();
  all.of("a__t").begin("alice", 10s, now);
  EXPECT_EQ(all.of("a__t").left("alice", now), 10s);
  EXPECT_EQ(all.of("a__t").left("bob", now), 0s);
  EXPECT_EQ(all.of("a__t").left("", now), 0s);
  ASSERT_EQ(others.told.size(), 1u);
  EXPECT_EQ(others.told[0].first.size(), std::string_view("a__t ").size() + 32);
  EXPECT_EQ(others.told[0].first.find("alice"), std::string::npos);

  // Another replica knows whom it is about.
  test::fake_pauses here;
  pauses heard(&here);
  here.hear(others.told[0].first, 10s);
  EXPECT_GT(heard.of("a__t").left("alice", async::worker::now()), 9s);
  EXPECT_EQ(heard.of("a__t").left("bob", async::worker::now()), 0s);
}

TEST(a_pause, that_others_tell_of_is_bounded) {
  test::fake_pauses others;
  pauses all(&others);
  others.hear("a__t", 10h);
  EXPECT_LE(all.of("a__t").left("", async::worker::now()), 5min);
  for (std::size_t i = 0; i < pauses::most_heard + 100; ++i) others.hear("x" + std::to_string(i), 1min);
  EXPECT_EQ(all.shown(async::worker::now()).size(), pauses::most_heard);
  others.hear("a__t", 2min);  // who is known is heard of all the same
  others.hear("", 1min);
  others.hear("  ", 1min);
}

TEST(a_pause, is_shown_with_the_answers_that_asked_for_it) {
  gateway gate;
  gate.search.answer(throttled(10s));
  gate.ask();
  gate.ask();
  const auto shown = gate.paused.shown(async::worker::now());
  ASSERT_EQ(shown.size(), 1u);
  EXPECT_EQ(shown[0].name, "search__query");
  EXPECT_EQ(shown[0].answers, 1u);
  EXPECT_GT(shown[0].left, 9s);
  EXPECT_EQ(gate.paused.shown(async::worker::now() + 1h).at(0).left, 0s);
}

TEST(prompts_of_a_server_that_throttles, are_left_alone_like_a_tool) {
  gateway gate;
  gate.search.answer(throttled(10s));
  constexpr std::string_view request =
      R"({"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"search__greet"}})";
  gate.send(request);
  const heard second = gate.send(request);
  EXPECT_EQ(gate.search.calls().size(), 1u);
  EXPECT_EQ(second.json.at("error").at("code").as_int64(), -31007);
  EXPECT_TRUE(second.json.at("error").at("data").at(cascade::marker_key).as_object().contains("retry_after_ms"));
  EXPECT_EQ(gate.retry_after, 10u);
}

}  // namespace
}  // namespace switchgear::call
