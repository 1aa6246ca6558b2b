// What the client hears and what the breakers count, for a tool without a cascade.
#include "call/service.hpp"

#include "unit/call/gateway.hpp"
#include "unit/call/listening_client.hpp"

namespace switchgear::call {
namespace {

using cascade::reason;
using cascade::served_by;
using port::fault;
using test::reply_of;

TEST(a_primarys_answer, keeps_its_bytes_but_for_the_id) {
  gateway gate;
  gate.search.answer(R"({ "result" : {"content":[],"n":1.50e1, "x":"\u00fc"} , "id":77,"jsonrpc":"2.0"})");

  const heard answer = gate.ask("{}", R"("ünï")");

  EXPECT_EQ(answer.text, R"({ "result" : {"content":[],"n":1.50e1, "x":"\u00fc"} , "id":"ünï","jsonrpc":"2.0"})");
  EXPECT_FALSE(answer.degraded);
}

TEST(a_call, reaches_the_upstream_under_its_own_name_for_the_tool) {
  gateway gate;
  gate.search.answer(good_answer);

  gate.ask(R"({"q":1})");

  ASSERT_EQ(gate.search.calls().size(), 1U);
  EXPECT_EQ(gate.search.calls()[0].tool, "query");
  EXPECT_EQ(gate.search.calls()[0].arguments, R"({"q":1})");
}

TEST(a_good_call, is_counted_once_for_the_tool_and_once_for_its_server) {
  gateway gate;
  gate.search.answer(good_answer);

  gate.ask();

  EXPECT_EQ(gate.counted("search__query"), (breaker::counts{.calls = 1, .timed = 1}));
  EXPECT_EQ(gate.counted("server:search"), (breaker::counts{.calls = 1, .timed = 1}));
  ASSERT_EQ(gate.recorder.calls.size(), 1U);
  EXPECT_EQ(gate.recorder.calls[0].served_by, served_by::primary);
  EXPECT_EQ(gate.recorder.calls[0].reason, reason::none);
  EXPECT_EQ(gate.breakers.kicks, 0U);
}

TEST(a_result_with_is_error, reaches_the_client_untouched_and_nothing_stands_in) {
  gateway gate;
  gate.policy().fallback.steps = {cascade::fixed_step{"never", ""}};
  gate.search.answer(R"({"jsonrpc":"2.0","id":7,"result":{"content":[],"isError":true}})");

  const heard answer = gate.ask();

  EXPECT_EQ(answer.text, R"({"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}})");
  EXPECT_EQ(gate.counted("search__query").calls, 0U);
  EXPECT_TRUE(gate.recorder.calls[0].is_error);
}

TEST(a_json_rpc_error, passes_with_the_clients_id) {
  gateway gate;
  gate.search.answer(R"({"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"bad q","data":[1]}})");

  EXPECT_EQ(gate.ask("{}", "9007199254740993").text,
            R"({"jsonrpc":"2.0","id":9007199254740993,"error":{"code":-32602,"message":"bad q","data":[1]}})");
}

TEST(an_internal_error, passes_too_and_is_a_failure_that_is_heard_of_at_once) {
  gateway gate;
  gate.search.answer(R"({"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"boom"}})");

  EXPECT_EQ(gate.ask().text, R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"boom"}})");
  EXPECT_EQ(gate.counted("search__query").failures, 1U);
  EXPECT_EQ(gate.counted("server:search").failures, 0U);
  EXPECT_GT(gate.breakers.kicks, 0U);
}

TEST(an_unknown_tool, is_an_error_with_the_id_and_leaves_no_trace) {
  gateway gate;

  const heard answer =
      gate.send(R"({"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"no \"such\"","arguments":{}}})");

  EXPECT_EQ(answer.json.at("id").as_string(), "x");
  EXPECT_EQ(answer.json.at("error").at("code").as_int64(), -32602);
  EXPECT_TRUE(gate.recorder.calls.empty());
  EXPECT_EQ(gate.recorder.refusals, std::vector{port::refusal::unknown_tool});
}

TEST(an_open_breaker, answers_at_once_without_calling_and_counts_nothing) {
  gateway gate;
  gate.known();
  gate.breakers.open("search__query", 12s, 21s);

  const heard answer = gate.ask();

  EXPECT_TRUE(gate.search.calls().empty());
  EXPECT_TRUE(answer.is_error());
  EXPECT_EQ(answer.words(),
            "Not called: the tool search__query (server search) keeps failing, so calls to it are stopped (for 13 s "
            "now). Retry in 21 s. You can use instead: backup__query.");
  EXPECT_NEAR(answer.result().at("_meta").at(cascade::marker_key).at("retry_after_ms").as_int64(), 21'000, 500);
  EXPECT_EQ(gate.counted("search__query").calls, 0U);
  EXPECT_EQ(gate.counted("server:search").calls, 0U);
  EXPECT_TRUE(gate.recorder.calls[0].refused);
  EXPECT_EQ(gate.recorder.calls[0].served_by, served_by::none);
}

TEST(the_marker_of_a_failure, is_what_the_contract_says) {
  gateway gate;
  gate.search.answer(reply_of(fault::connect_failed));

  EXPECT_EQ(gate.ask().marker(), R"({"degraded":true,"served_by":"none","reason":"unreachable","state":"closed",)"
                                 R"("steps":["primary:unreachable"]})");
}

TEST(the_servers_open_breaker, refuses_too_and_gives_the_tools_permit_back) {
  gateway gate;
  gate.known();
  gate.breakers.open("server:search", 2s, 5s);

  const heard answer = gate.ask();

  EXPECT_TRUE(answer.words().starts_with("Not called: the server search, which has the tool search__query,"));
  EXPECT_EQ(gate.counted("search__query").calls, 0U);
}

// RC-014: names upstream, status, media type and some of the body.
TEST(a_wrong_page, is_told_with_what_came) {
  gateway gate;
  gate.search.answer(reply_of(fault::bad_status, 502, "text/html: <h1>Bad \xff Gateway</h1>"));

  const heard answer = gate.ask();

  EXPECT_EQ(answer.words(),
            "The tool search__query failed at the server search: HTTP 502: text/html: <h1>Bad \xEF\xBF\xBD "
            "Gateway</h1>. It is not known whether the call took effect; find out before you repeat it.");
  EXPECT_EQ(gate.counted("server:search").failures, 1U);
}

TEST(a_throttled_call, tells_when_to_retry_and_is_no_failure) {
  gateway gate;
  auto busy = reply_of(fault::bad_status, 429);
  busy.retry_after = 7s;
  gate.search.answer(std::move(busy));

  const heard answer = gate.ask();

  EXPECT_EQ(answer.words(),
            "The server search takes no more calls of search__query at the moment: HTTP 429. Retry in "
            "7 s. You can use instead: backup__query.");
  EXPECT_EQ(gate.counted("search__query").calls, 0U);
  EXPECT_EQ(gate.counted("server:search").calls, 0U);
}

// RC-001.
TEST(a_silent_upstream, is_answered_for_at_the_deadline) {
  gateway gate;
  gate.policy().deadline = 30ms;
  gate.search.hang();

  const auto before = async::worker::now();
  const heard answer = gate.ask();
  const auto took = async::worker::now() - before;

  EXPECT_GE(took, 30ms);
  EXPECT_LT(took, 1s);
  EXPECT_TRUE(answer.words().starts_with("The tool search__query (server search) did not answer within 30 ms."));
  const auto counted = gate.counted("search__query");
  EXPECT_EQ(counted.failures, 1U);
  EXPECT_EQ(counted.slow, 1U);
  EXPECT_EQ(gate.counted("server:search").failures, 1U);
}

TEST(a_call_that_its_client_cancels, ends_and_is_counted_nowhere) {
  gateway gate;
  gate.search.hang();
  gate.search.before_answer = [](async::interrupt& running) { running.raise(async::interrupt::reason::cancelled); };

  const heard answer = gate.ask();

  EXPECT_TRUE(answer.is_error());
  EXPECT_EQ(gate.counted("search__query"), breaker::counts{});
  EXPECT_EQ(gate.counted("server:search"), breaker::counts{});
}

TEST(a_call_over_the_p99_limit, counts_as_slow_even_if_its_client_gives_up) {
  gateway gate;
  gate.policy().breaker.p99 = 10ms;
  gate.search.hang();
  gate.cancel_after = 60ms;

  gate.ask();

  EXPECT_EQ(gate.counted("search__query"), (breaker::counts{.timed = 1, .slow = 1}));
  EXPECT_TRUE(gate.recorder.calls[0].slow);
}

TEST(a_gateway_that_shuts_down, says_so) {
  gateway gate;
  gate.search.hang();
  gate.search.before_answer = [](async::interrupt& running) { running.raise(async::interrupt::reason::shutdown); };

  EXPECT_TRUE(gate.ask().is_error());
}

TEST(a_half_open_breaker, lets_one_call_wait_for_a_probes_place) {
  gateway gate;
  gate.known();
  gate.breakers.put("search__query", {.state = breaker::state::half_open, .next_lease = 1ms});
  gate.breakers.on_wait = [&](breaker::gate&) {
    gate.breakers.put("search__query", {.state = breaker::state::half_open}, 1);
  };
  gate.search.answer(good_answer);

  const heard answer = gate.ask();

  EXPECT_EQ(gate.breakers.waits, 1U);
  EXPECT_FALSE(answer.degraded);
  const auto report = gate.breakers.collect("search__query");
  ASSERT_EQ(report.probes.size(), 1U);
  EXPECT_EQ(report.probes[0].fate, breaker::fate::success);
}

TEST(a_probe, that_brings_is_error_has_shown_that_the_tool_works) {
  gateway gate;
  gate.known();
  gate.breakers.put("search__query", {.state = breaker::state::half_open}, 1);
  gate.search.answer(R"({"jsonrpc":"2.0","id":7,"result":{"content":[],"isError":true}})");

  gate.ask();

  const auto report = gate.breakers.collect("search__query");
  ASSERT_EQ(report.probes.size(), 1U);
  EXPECT_EQ(report.probes[0].fate, breaker::fate::success);
}

TEST(a_probe, whose_coroutine_is_destroyed_gives_its_place_back) {
  gateway gate;
  gate.known();
  gate.breakers.put("search__query", {.state = breaker::state::half_open}, 1);
  gate.search.hang();

  gate.ask_and_vanish(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search__query"}})");

  const auto report = gate.breakers.collect("search__query");
  ASSERT_EQ(report.probes.size(), 1U);
  EXPECT_EQ(report.probes[0].fate, breaker::fate::neutral);
}

TEST(progress, reaches_the_client_under_its_own_token) {
  gateway gate;
  listening_client waiting;
  gate.client = &waiting;
  gate.search.notifications = {
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3,"progress":1}})"};
  gate.search.answer(good_answer);

  gate.ask("{}", "1", R"({"progressToken":"mine"})");

  EXPECT_EQ(
      waiting.heard,
      std::vector<std::string>{
          R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"mine","progress":1}})"});
  EXPECT_EQ(waiting.flushes, 1U);
}

TEST(progress, that_no_client_asked_for_is_dropped) {
  gateway gate;
  listening_client waiting;
  gate.client = &waiting;
  gate.search.notifications = {
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3,"progress":1}})"};
  gate.search.answer(good_answer);

  gate.ask();

  EXPECT_TRUE(waiting.heard.empty());
}

}  // namespace
}  // namespace switchgear::call
