// A REST endpoint in a tool's place.
#include "unit/call/gateway.hpp"

#include <tuple>

namespace switchgear::call {
namespace {

using cascade::fixed_step;
using cascade::http_step;
using cascade::served_by;
using cascade::tool_step;
using port::fault;
using test::page_of;
using test::reply_of;

http_step items() {
  http_step made;
  made.url = "http://api.example.com/items?q={{q}}";
  return made;
}

http_step posting() {
  http_step made = items();
  made.method = http_step::verb::post;
  return made;
}

std::string steps_of(const heard& answer) {
  return boost::json::serialize(answer.result().at("_meta").at(cascade::marker_key).at("steps"));
}

TEST(an_endpoint, stands_in_with_what_is_taken_of_its_answer) {
  gateway gate(structured_tool);
  http_step step = items();
  step.headers = {{"X-A", "b"}, {"X-C", "d"}};
  step.result = {"{{/items/0/title}}", R"({"n":"{{/total}}"})"};
  gate.policy().fallback.steps = {step};
  gate.policy().note = true;
  gate.search.answer(reply_of(fault::connect_failed));
  gate.web.answer(page_of(R"({"total":3,"items":[{"title":"Switches"}]})"));

  const heard answer = gate.ask(R"({"q":"a b"})", "5");

  ASSERT_EQ(gate.web.requests.size(), 1U);
  EXPECT_EQ(gate.web.origins, std::vector<std::string>{"http://api.example.com"});
  EXPECT_EQ(gate.web.requests[0].method, "GET");
  EXPECT_EQ(gate.web.requests[0].target, "/items?q=a%20b");
  EXPECT_EQ(gate.web.requests[0].fields, "X-A: b\r\nX-C: d\r\n");
  EXPECT_EQ(gate.web.requests[0].body, "");
  EXPECT_EQ(answer.json.at("id").as_int64(), 5);
  EXPECT_EQ(answer.words(0), "Switches");
  EXPECT_EQ(
      answer.words(1),
      "[Switchgear: this answer comes from another service, since search__query is not answering (unreachable).]");
  EXPECT_EQ(boost::json::serialize(answer.result().at("structuredContent")), R"({"n":3})");
  EXPECT_EQ(answer.marker(), R"({"degraded":true,"served_by":"http","reason":"unreachable","state":"closed",)"
                             R"("steps":["primary:unreachable","http:hit"]})");
  EXPECT_EQ(gate.recorder.calls[0].served_by, served_by::http);
  EXPECT_EQ(gate.counted("http:GET api.example.com/items").calls, 1U);
  EXPECT_EQ(gate.counted("server:http:api.example.com").calls, 1U);
}

TEST(an_endpoint, is_sent_a_body_of_the_template_or_the_arguments) {
  http_step templated = posting(), plain = posting();
  templated.body = R"({"find":"{{q}}","limit":5})";
  plain.method = http_step::verb::put;
  for (const auto& [step, method, body] :
       {std::tuple{templated, "POST", R"({"find":[1],"limit":5})"}, std::tuple{plain, "PUT", R"({"q":[1]})"}}) {
    gateway gate;
    gate.policy().fallback.steps = {step};
    gate.search.answer(reply_of(fault::connect_failed));
    gate.web.answer(page_of("words", "text/plain"));

    EXPECT_EQ(gate.ask(R"({"q":[1]})").words(), "words");
    EXPECT_EQ(gate.web.requests[0].method, method);
    EXPECT_EQ(gate.web.requests[0].body, body);
  }
}

TEST(an_endpoint, is_not_asked_without_a_value_that_it_needs) {
  gateway gate;
  gate.policy().fallback.steps = {items()};
  gate.search.answer(reply_of(fault::connect_failed));

  const heard answer = gate.ask("{}");

  EXPECT_TRUE(gate.web.requests.empty());
  EXPECT_NE(answer.words().find("http api.example.com (the call lacks an argument that it needs: q)"),
            std::string::npos)
      << answer.words();
}

TEST(an_endpoint, stands_behind_its_own_breaker_and_its_hosts) {
  for (const char* name : {"http:GET api.example.com/items", "server:http:api.example.com"}) {
    gateway gate;
    gate.policy().fallback.steps = {items(), fixed_step{"sorry", ""}};
    gate.known();
    gate.breakers.open(name, 1s, 5s);
    gate.search.answer(reply_of(fault::connect_failed));

    const heard answer = gate.ask(R"({"q":1})");

    EXPECT_TRUE(gate.web.requests.empty());
    EXPECT_EQ(steps_of(answer), R"(["primary:unreachable","http:refused","static:hit"])");
  }
}

TEST(an_endpoints_breaker, has_the_steps_settings_and_its_host_the_common_ones) {
  gateway gate;
  http_step step = items();
  step.breaker.p99 = 77ms;
  gate.policy().fallback.steps = {step};
  gate.policy().step_breaker.p99 = 99ms;
  gate.known();

  EXPECT_EQ(gate.breakers.named("http:GET api.example.com/items").slow_after(), 77ms);
  EXPECT_EQ(gate.breakers.named("server:http:api.example.com").slow_after(), 99ms);
}

struct no_answer {
  port::web_reply reply;
  std::string_view ending, said;
  unsigned calls, failures;  // that the endpoint's breaker counts
};

std::vector<no_answer> no_answers() {
  std::vector<no_answer> all;
  all.push_back({page_of("{}", "application/json", 404), "failed", "HTTP 404", 0, 0});
  all.push_back({page_of("boom", "text/plain", 500), "failed", "HTTP 500", 1, 1});
  all.push_back({page_of("", "text/plain", 502), "failed", "HTTP 502", 0, 0});
  all.push_back({page_of("", "text/plain", 401), "denied", "HTTP 401", 0, 0});
  all.push_back({page_of("", "text/plain", 429), "throttled", "HTTP 429", 0, 0});
  all.push_back({page_of("<html>", "text/html; charset=utf-8"), "failed", "neither JSON nor text", 1, 1});
  all.push_back({page_of("{", "application/json"), "failed", "JSON that cannot be read", 1, 1});
  all.push_back({page_of("", "text/plain"), "failed", "an empty answer", 1, 1});
  all.push_back(
      {{reply_of(fault::too_large, 200, "an answer of 9 bytes"), {}}, "failed", "an answer of 9 bytes", 0, 0});
  all.push_back({{reply_of(fault::lost, 0, "connection broken"), {}}, "failed", "connection broken", 0, 0});
  all.push_back({{reply_of(fault::resolve_failed, 0, "no address"), {}}, "unreachable", "no address", 0, 0});
  return all;
}

// RC-014.
TEST(what_is_no_answer, ends_the_step_says_why_and_counts_as_it_would_of_a_tool) {
  for (no_answer& one : no_answers()) {
    gateway gate(reading_tool);
    gate.policy().fallback.steps = {items()};
    gate.search.answer(reply_of(fault::connect_failed));
    gate.web.answer(std::move(one.reply));

    const heard answer = gate.ask(R"({"q":1})");

    EXPECT_EQ(steps_of(answer), R"(["primary:unreachable","http:)" + std::string(one.ending) + R"("])") << one.said;
    EXPECT_NE(answer.words().find(one.said), std::string::npos) << answer.words();
    const breaker::counts counted = gate.counted("http:GET api.example.com/items");
    EXPECT_EQ(counted.calls, one.calls) << one.said;
    EXPECT_EQ(counted.failures, one.failures) << one.said;
  }
}

TEST(an_answer_of_an_endpoint, must_have_what_is_taken_of_it_and_fit) {
  gateway gate(structured_tool);
  http_step step = items();
  step.result = {"", R"({"n":"{{/n}}"})"};
  gate.policy().fallback.steps = {step};
  for (int i = 0; i < 3; ++i) gate.search.answer(reply_of(fault::connect_failed));
  gate.web.answer(page_of("{}"));
  gate.web.answer(page_of(R"({"n":"x"})"));
  gate.web.answer(page_of("n=1", "text/plain"));

  EXPECT_EQ(steps_of(gate.ask(R"({"q":1})")), R"(["primary:unreachable","http:unmapped"])");
  EXPECT_EQ(steps_of(gate.ask(R"({"q":1})")), R"(["primary:unreachable","http:unfit"])");
  EXPECT_EQ(steps_of(gate.ask(R"({"q":1})")), R"(["primary:unreachable","http:failed"])");
}

TEST(a_request_that_may_take_effect, does_not_follow_a_call_that_may_have) {
  http_step reading = posting();
  reading.read_only = true;
  for (const auto& [step, runs] : {std::pair{posting(), false}, std::pair{reading, true}, std::pair{items(), true}}) {
    gateway gate;
    gate.policy().fallback.steps = {step};
    gate.search.answer(reply_of(fault::lost));
    gate.web.answer(page_of("1"));

    gate.ask(R"({"q":1})");

    EXPECT_EQ(gate.web.requests.size(), runs ? 1U : 0U);
  }
}

TEST(a_request_that_may_have_taken_effect, is_the_last_that_may) {
  gateway gate;
  gate.policy().fallback.steps = {posting(), tool_step{.name = "backup__query"}};
  gate.search.answer(reply_of(fault::connect_failed));
  gate.web.answer({reply_of(fault::lost), {}});

  const heard answer = gate.ask(R"({"q":1})");

  EXPECT_TRUE(gate.backup.calls().empty());
  EXPECT_EQ(steps_of(answer), R"(["primary:unreachable","http:failed","tool:unsafe"])");
  EXPECT_EQ(answer.result().at("_meta").at(cascade::marker_key).at("outcome").as_string(), "unknown");
}

TEST(a_hung_endpoint, leaves_time_for_the_step_behind_it_and_counts_as_slow) {
  gateway gate(reading_tool);
  gate.policy().deadline = 500ms;
  gate.policy().fallback.steps = {items(), tool_step{.name = "backup__query", .minimum_time = 100ms}};
  gate.search.answer(reply_of(fault::connect_failed));
  gate.web.hang();
  gate.backup.answer(good_answer);

  const heard answer = gate.ask(R"({"q":1})");

  EXPECT_EQ(steps_of(answer), R"(["primary:unreachable","http:timeout","tool:hit"])");
  const breaker::counts counted = gate.counted("http:GET api.example.com/items");
  EXPECT_EQ(counted.failures, 1U);
  EXPECT_EQ(counted.slow, 1U);
}

TEST(a_client_that_cancels_while_an_endpoint_is_asked, stops_the_cascade) {
  gateway gate;
  gate.policy().fallback.steps = {items(), fixed_step{"sorry", ""}};
  gate.search.answer(reply_of(fault::connect_failed));
  gate.web.hang();
  gate.cancel_after = 30ms;

  const heard answer = gate.ask(R"({"q":1})");

  EXPECT_TRUE(answer.is_error());
  EXPECT_EQ(gate.counted("http:GET api.example.com/items"), breaker::counts{});
}

TEST(an_endpoints_text, cannot_make_a_result_that_is_no_json) {
  gateway gate;
  gate.policy().fallback.steps = {items()};
  gate.search.answer(reply_of(fault::connect_failed));
  gate.web.answer(page_of("gr\xfcn \"x\"", "text/plain"));

  EXPECT_EQ(gate.ask(R"({"q":1})").words(), "gr\xef\xbf\xbdn \"x\"");
}

TEST(a_step_to_an_endpoint_that_no_call_can_ask, is_a_problem) {
  gateway gate(R"([{"name":"query","inputSchema":{"type":"object","properties":{"query":{}}}}])");
  http_step wrong = items(), broken = items();
  wrong.method = http_step::verb::post;
  wrong.body = R"({"a":"{{b}}"})";
  broken.url = "http://{{host}}/";
  gate.policy().fallback.steps = {wrong, broken};
  gate.search.answer(reply_of(fault::connect_failed));
  gate.web.answer(page_of("", "text/plain", 404));

  EXPECT_EQ(gate.known().problems().size(), 3U) << gate.known().problems()[0];
  EXPECT_EQ(gate.known().problems()[0],
            "search__query: its fallback http api.example.com needs the argument b, which is not in its inputSchema; "
            "without it the step is passed over");
  EXPECT_EQ(steps_of(gate.ask(R"({"q":1,"b":2})")), R"(["primary:unreachable","http:failed","http:unreachable"])");
}

}  // namespace
}  // namespace switchgear::call
