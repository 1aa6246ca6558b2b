// A try that failed is made again where that does no harm, and no oftener than the budget allows. RC-067.
#include "unit/call/gateway.hpp"

namespace switchgear::call {
namespace {

using cascade::tool_step;
using port::fault;
using test::reply_of;

constexpr std::string_view idempotent_tool =
    R"([{"name":"query","inputSchema":{"type":"object"},"annotations":{"idempotentHint":true}}])";
constexpr std::string_view destructive_tool =
    R"([{"name":"query","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}}])";

port::tool_policy& thrice(gateway& gate) {
  gate.policy().retry = {.attempts = 3, .backoff = 1ms, .longest_pause = 2ms};
  return gate.policy();
}

/// How an upstream fails a call that it has carried out.
std::vector<port::reply> failures_after_the_deed() {
  std::vector<port::reply> all;
  all.push_back(reply_of(fault::bad_status, 503, "busy"));
  all.push_back(reply_of(fault::lost));
  all.push_back(reply_of(fault::bad_media_type, 200, "text/html"));
  all.push_back(reply_of(fault::session_lost));
  return all;
}

TEST(a_failed_try, is_made_again_when_nothing_was_sent_whatever_the_tool_does) {
  for (const std::string_view tool : {plain_tool, destructive_tool, reading_tool}) {
    for (const fault how : {fault::connect_failed, fault::tls_failed, fault::resolve_failed, fault::not_ready}) {
      gateway gate(tool);
      thrice(gate);
      gate.search.answer(reply_of(how));
      gate.search.answer(good_answer);

      const heard answer = gate.ask("{}", "4");

      EXPECT_EQ(answer.words(), "fine");
      EXPECT_EQ(answer.json.at("id").as_int64(), 4);
      EXPECT_FALSE(answer.degraded);
      EXPECT_EQ(gate.search.calls().size(), 2u);
      EXPECT_EQ(gate.recorder.calls.at(0).retries, 1u);
    }
  }
}

TEST(a_failed_try, is_not_made_again_when_it_may_have_taken_effect) {
  for (const std::string_view tool : {plain_tool, destructive_tool}) {
    for (port::reply& failure : failures_after_the_deed()) {
      gateway gate(tool);
      thrice(gate);
      gate.search.answer(std::move(failure));

      const heard answer = gate.ask();

      EXPECT_TRUE(answer.is_error());
      EXPECT_EQ(gate.search.calls().size(), 1u);
      EXPECT_NE(answer.marker().find(R"("outcome":"unknown")"), std::string::npos);
    }
  }
}

TEST(a_failed_try, is_made_again_when_the_tool_reads_or_is_idempotent) {
  for (const std::string_view tool : {reading_tool, idempotent_tool}) {
    for (port::reply& failure : failures_after_the_deed()) {
      gateway gate(tool);
      thrice(gate);
      gate.search.answer(std::move(failure));
      gate.search.answer(good_answer);

      EXPECT_EQ(gate.ask().words(), "fine");
      EXPECT_EQ(gate.search.calls().size(), 2u);
    }
  }
}

TEST(a_failed_try, is_judged_by_the_operators_word_first) {
  gateway gate(reading_tool);
  thrice(gate).read_only = false;
  gate.search.answer(reply_of(fault::lost));
  EXPECT_TRUE(gate.ask().is_error());
  EXPECT_EQ(gate.search.calls().size(), 1u);
}

TEST(a_failed_try, is_made_as_often_as_the_policy_says_and_told) {
  gateway gate;
  thrice(gate);
  for (int i = 0; i < 3; ++i) gate.search.answer(reply_of(fault::connect_failed));

  const heard answer = gate.ask();

  EXPECT_EQ(gate.search.calls().size(), 3u);
  EXPECT_NE(answer.words().find("It was tried 3 times."), std::string::npos) << answer.words();
  EXPECT_NE(answer.marker().find(R"("steps":["primary:unreachable x3"])"), std::string::npos) << answer.marker();
  EXPECT_EQ(gate.recorder.calls.at(0).retries, 2u);
}

TEST(a_failed_try, is_not_made_again_unless_the_policy_says_so) {
  gateway gate;
  gate.search.answer(reply_of(fault::connect_failed));
  EXPECT_TRUE(gate.ask().is_error());
  EXPECT_EQ(gate.search.calls().size(), 1u);
}

TEST(a_failed_try, is_made_again_whatever_the_tool_does_when_the_server_says_that_it_did_nothing) {
  gateway gate(destructive_tool);
  thrice(gate);
  port::reply throttled = reply_of(fault::bad_status, 429);
  throttled.retry_after = 5ms;
  gate.search.answer(std::move(throttled));
  gate.search.answer(good_answer);
  EXPECT_EQ(gate.ask().words(), "fine");
}

TEST(a_failed_try, is_not_made_again_sooner_than_the_server_wants) {
  gateway gate;
  thrice(gate).deadline = 1s;
  for (const duration wanted : {duration(60ms), duration(2s)}) {
    port::reply throttled = reply_of(fault::bad_status, 429);
    throttled.retry_after = wanted;
    gate.search.answer(std::move(throttled));
  }
  gate.search.answer(good_answer);
  const time_point before = async::worker::now();

  EXPECT_TRUE(gate.ask().is_error()) << "two seconds are over the deadline";

  EXPECT_EQ(gate.search.calls().size(), 2u);
  EXPECT_GE(async::worker::now() - before, 60ms);
  EXPECT_LT(async::worker::now() - before, 900ms);
}

TEST(an_answer_of_the_tool, is_final_though_it_is_an_error) {
  for (const std::string_view text : {R"({"jsonrpc":"2.0","id":7,"result":{"content":[],"isError":true}})",
                                      R"({"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"m"}})"}) {
    gateway gate(reading_tool);
    thrice(gate);
    gate.search.answer(text);
    gate.ask();
    EXPECT_EQ(gate.search.calls().size(), 1u);
  }
}

TEST(a_call_that_is_given_up, is_not_tried_again) {
  gateway gate;
  thrice(gate);
  gate.policy().retry.backoff = gate.policy().retry.longest_pause = 1h;
  gate.policy().deadline = 10h;
  gate.cancel_after = 30ms;
  gate.search.answer(reply_of(fault::connect_failed));
  gate.ask();
  EXPECT_EQ(gate.search.calls().size(), 1u);
}

TEST(retries, are_bounded_by_the_budget_of_the_server) {
  gateway gate;
  thrice(gate).breaker.mode = breaker::mode::observe;
  constexpr unsigned calls = 200;
  for (unsigned i = 0; i < 3 * calls; ++i) gate.search.answer(reply_of(fault::connect_failed));
  for (unsigned i = 0; i < calls; ++i) gate.ask();
  EXPECT_LE(gate.search.calls().size(), calls + calls / 10 + cascade::retry_budget::reserve);
  EXPECT_GE(gate.search.calls().size(), calls + calls / 10);
}

TEST(a_retry_that_the_breaker_refuses, leaves_the_failure_as_the_reason) {
  gateway gate;
  thrice(gate);
  gate.search.before_answer = [&](async::interrupt&) { gate.breakers.open("search__query", 1s, 21s); };
  gate.search.answer(reply_of(fault::connect_failed));

  const heard answer = gate.ask();

  EXPECT_EQ(gate.search.calls().size(), 1u);
  EXPECT_NE(answer.marker().find(R"("reason":"unreachable")"), std::string::npos) << answer.marker();
}

TEST(a_step, has_the_retries_of_its_own_tool) {
  gateway gate;
  gate.policy().fallback.steps = {tool_step{"backup__query", ""}};
  gate.policies["backup__query"].retry = {.attempts = 2, .backoff = 1ms, .longest_pause = 1ms};
  gate.search.answer(reply_of(fault::connect_failed));
  gate.backup.answer(reply_of(fault::connect_failed));
  gate.backup.answer(good_answer);

  const heard answer = gate.ask();

  EXPECT_EQ(answer.words(), "fine");
  EXPECT_EQ(gate.search.calls().size(), 1u);
  EXPECT_EQ(gate.backup.calls().size(), 2u);
}

TEST(each_try, counts_for_the_breaker) {
  gateway gate;
  thrice(gate);
  for (int i = 0; i < 2; ++i) gate.search.answer(reply_of(fault::bad_status, 500));
  gate.policy().read_only = true;
  gate.search.answer(good_answer);
  EXPECT_EQ(gate.ask().words(), "fine");
  const breaker::counts counted = gate.counted("search__query");
  EXPECT_EQ(counted.calls, 3u);
  EXPECT_EQ(counted.failures, 2u);
}

}  // namespace
}  // namespace switchgear::call
