// Requests that are no tools/call, and what modern clients send besides.
#include "protocol/errors.hpp"
#include "unit/call/gateway.hpp"
#include "unit/call/listening_client.hpp"

#include <gtest/gtest.h>

namespace switchgear::call {
namespace {

namespace code = protocol::code;

std::string request(std::string_view method, std::string_view params) {
  return R"({"jsonrpc":"2.0","id":"a","method":")" + std::string(method) + R"(","params":)" + std::string(params) + "}";
}

std::int64_t code_of(const heard& answer) {
  const auto* error = answer.json.as_object().if_contains("error");
  return error != nullptr ? error->at("code").as_int64() : 0;
}

TEST(a_prompt, is_asked_of_its_server_under_its_own_name) {
  gateway gate;
  gate.search.answer(R"({"jsonrpc":"2.0","id":5,"result":{"messages":[],"n":1.0}})");
  EXPECT_EQ(gate.send(request("prompts/get", R"({"name":"search__greet"})")).text,
            R"({"jsonrpc":"2.0","id":"a","result":{"messages":[],"n":1.0}})");
  EXPECT_EQ(gate.search.calls().at(0).tool, "greet");
  EXPECT_EQ(gate.counted("search:prompts/get").calls, 1u);
}

TEST(a_resource, of_two_servers_is_asked_of_the_one_that_its_uri_means) {
  gateway gate;
  gate.backup.answer(R"({"jsonrpc":"2.0","id":5,"result":{"contents":[]}})");
  gate.asker.era = protocol::era::modern;
  EXPECT_EQ(
      gate.send(request("resources/read", R"({"uri":"switchgear://backup/x:1"})")).text,
      R"({"jsonrpc":"2.0","id":"a","result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[]}})");
  EXPECT_EQ(gate.backup.calls().at(0).tool, "x:1");
}

TEST(a_completion, follows_its_reference) {
  gateway gate;
  gate.search.answer(R"({"jsonrpc":"2.0","id":5,"result":{"completion":{"values":[]}}})");
  gate.send(request("completion/complete", R"({"ref":{"type":"ref/prompt","name":"search__greet"},"argument":{}})"));
  EXPECT_EQ(gate.search.calls().at(0).tool, "greet");
}

TEST(what_nobody_has, is_an_error_that_names_it) {
  gateway gate;
  EXPECT_EQ(code_of(gate.send(request("prompts/get", R"({"name":"nothing"})"))), code::invalid_params);
  EXPECT_EQ(code_of(gate.send(request("completion/complete", "{}"))), code::invalid_params);
  EXPECT_EQ(code_of(gate.send(request("resources/read", "{}"))), code::invalid_params);
}

TEST(a_resource_that_nobody_has, is_not_found_in_the_words_of_the_clients_era) {
  gateway gate;
  const std::string text = request("resources/read", R"({"uri":"y:ü"})");
  EXPECT_EQ(code_of(gate.send(text)), -32002);
  gate.asker.era = protocol::era::modern;
  const heard answer = gate.send(text);
  EXPECT_EQ(code_of(answer), code::invalid_params);
  EXPECT_EQ(answer.json.at("error").at("data").at("uri").as_string(), "y:ü");
}

TEST(a_failed_errand, is_an_error_of_ours_that_says_why) {
  struct {
    port::reply reply;
    std::int64_t expected;
  } cases[] = {{test::reply_of(port::fault::connect_failed), code::unreachable},
               {test::reply_of(port::fault::deadline), code::deadline},
               {test::reply_of(port::fault::lost), code::outcome_unknown},
               {test::reply_of(port::fault::too_large), code::too_large},
               {test::reply_of(port::fault::bad_status, 401), code::denied},
               {test::reply_of(port::fault::bad_status, 429), code::throttled},
               {test::reply_of(port::fault::overloaded), code::overloaded}};
  for (auto& each : cases) {
    gateway gate;
    gate.search.answer(std::move(each.reply));
    const heard answer = gate.send(request("prompts/get", R"({"name":"search__greet"})"));
    EXPECT_EQ(code_of(answer), each.expected) << answer.text;
    EXPECT_EQ(answer.json.at("id").as_string(), "a");
    EXPECT_TRUE(answer.json.at("error").at("data").as_object().contains(cascade::marker_key)) << answer.text;
  }
}

TEST(a_failing_server, is_kept_from_prompts_by_their_own_breaker) {
  gateway gate;
  const std::string text = request("prompts/get", R"({"name":"search__greet"})");
  for (int i = 0; i < 3; ++i) gate.search.answer(R"({"jsonrpc":"2.0","id":5,"error":{"code":-32603,"message":"no"}})");
  for (int i = 0; i < 3; ++i) gate.send(text);
  EXPECT_EQ(gate.counted("search:prompts/get").failures, 3u);
  EXPECT_EQ(gate.counted("search__query").calls, 0u);
}

struct modern_client : testing::Test {
  gateway gate;
  modern_client() { gate.asker.era = gate.search.speaks = protocol::era::modern; }
};

TEST_F(modern_client, sees_a_servers_state_only_sealed_and_gives_it_back) {
  gate.search.answer(
      R"({"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","requestState":"secret","inputRequests":{}}})");
  const heard first = gate.ask();
  const std::string state(first.result().at("requestState").as_string());
  EXPECT_EQ(state.find("secret"), std::string::npos);

  gate.search.answer(good_answer);
  const heard second = gate.send(
      request("tools/call", R"({"name":"search__query","inputResponses":{},"requestState":")" + state + R"("})"));
  EXPECT_FALSE(second.is_error());
  EXPECT_EQ(gate.search.calls().at(1).request_state, R"("secret")");
}

TEST_F(modern_client, cannot_use_a_state_elsewhere_or_change_it) {
  const std::string state = gate.sealed.seal({"tools/call", "search__other", ""}, "search", R"("s")").value();
  for (const std::string& token : {state, std::string(R"("x")"), std::string("1")}) {
    const heard answer = gate.send(request("tools/call", R"({"name":"search__query","requestState":)" + token + "}"));
    EXPECT_EQ(code_of(answer), code::invalid_params) << answer.text;
  }
  EXPECT_TRUE(gate.search.calls().empty());
}

TEST_F(modern_client, says_its_arguments_in_headers_as_well_where_the_tool_wants_it) {
  const std::string tool =
      R"([{"name":"query","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}}])";
  gate.list(tool, plain_tool);
  gate.head = "POST /mcp HTTP/1.1\r\nMcp-Param-Region: west\r\n\r\n";
  gate.search.answer(good_answer);
  EXPECT_EQ(code_of(gate.ask(R"({"region":"west"})")), 0);
  EXPECT_EQ(gate.search.calls().at(0).mirrored, "Mcp-Param-Region: west\r\n");
  EXPECT_EQ(code_of(gate.ask(R"({"region":"east"})")), code::header_mismatch);
  EXPECT_EQ(gate.status, 400);
  EXPECT_EQ(gate.search.calls().size(), 1u);
}

TEST_F(modern_client, hears_of_some_errors_by_the_status_as_well) {
  gate.search.answer(R"({"jsonrpc":"2.0","id":7,"error":{"code":-32021,"message":"x","data":{}}})");
  gate.ask();
  EXPECT_EQ(gate.status, 400);
  gate.search.answer(R"({"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"x"}})");
  gate.ask();
  EXPECT_EQ(gate.status, 200);
}

}  // namespace
}  // namespace switchgear::call
