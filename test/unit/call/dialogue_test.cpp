// What passes between a server and the client while a request is under way.
#include "unit/call/gateway.hpp"
#include "unit/call/listening_client.hpp"

#include <gtest/gtest.h>

namespace switchgear::call {
namespace {

const std::string question =
    R"({"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"Sure?"}})";
const std::string asks_for_name =
    R"({"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","requestState":"s1","inputRequests":)"
    R"({"name":{"method":"elicitation/create","params":{"message":"Who?"}},)"
    R"("where":{"method":"roots/list"}}}})";

struct dialogue : testing::Test {
  gateway gate{reading_tool, reading_tool};
  listening_client person;

  dialogue() {
    gate.client = &person;
    gate.asker.session = "s";
    gate.asker.abilities = protocol::client_abilities::of_bits(127);
  }
  static std::string log(std::string_view level) {
    return R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":")" + std::string(level) +
           R"(","data":"x"}})";
  }
};

TEST_F(dialogue, notifications_of_any_kind_reach_the_client_as_they_are) {
  const std::string unknown = R"({"jsonrpc":"2.0","method":"notifications/else","params":{"n":1.0}})";
  gate.search.notifications = {log("debug"), unknown};
  gate.search.answer(good_answer);
  gate.ask();
  EXPECT_EQ(person.heard, (std::vector<std::string>{log("debug"), unknown}));
}

TEST_F(dialogue, log_messages_below_the_clients_level_are_not_for_it) {
  gate.asker.log_level = R"("warning")";
  gate.search.notifications = {log("debug"), log("notice"), log("warning"), log("alert")};
  gate.search.answer(good_answer);
  gate.ask();
  EXPECT_EQ(person.heard, (std::vector<std::string>{log("warning"), log("alert")}));
}

TEST_F(dialogue, a_modern_client_gets_log_messages_only_if_it_asked_for_them) {
  gate.asker.era = protocol::era::modern;
  gate.search.notifications = {log("alert")};
  gate.search.answer(good_answer);
  gate.ask();
  EXPECT_TRUE(person.heard.empty());
}

TEST_F(dialogue, a_servers_question_is_the_clients_to_answer) {
  person.answers = {R"({"action":"accept"})"};
  gate.search.questions = {question};
  gate.search.answer(good_answer);
  EXPECT_EQ(boost::json::serialize(gate.ask().result()), good_result);
  EXPECT_EQ(person.asked, std::vector<std::string>{question});
  EXPECT_EQ(gate.search.heard, std::vector<std::string>{R"({"jsonrpc":"2.0","id":"q1","result":{"action":"accept"}})"});
}

TEST_F(dialogue, a_persons_thinking_is_not_on_the_tools_time) {
  gate.policy().deadline = 30ms;
  person.answers = {"{}"};
  person.thinks_for = 80ms;
  gate.search.questions = {question};
  gate.search.answer(good_answer);
  EXPECT_FALSE(gate.ask().is_error());
}

TEST_F(dialogue, a_person_may_think_for_as_long_as_the_policy_says) {
  gate.policy().patience = 20ms;
  person.thinks_for = 5s;
  gate.search.questions = {question};
  gate.search.answer(good_answer);
  const time_point asked = async::worker::now();
  gate.ask();
  EXPECT_LT(async::worker::now() - asked, 2s);
  ASSERT_EQ(gate.search.heard.size(), 1U);
  EXPECT_NE(gate.search.heard[0].find("error"), std::string::npos);
}

TEST_F(dialogue, a_client_that_declared_nothing_is_not_asked) {
  gate.asker.abilities = {};
  gate.search.questions = {question};
  gate.search.answer(good_answer);
  gate.ask();
  EXPECT_TRUE(person.asked.empty());
  ASSERT_EQ(gate.search.heard.size(), 1U);
  EXPECT_NE(gate.search.heard[0].find("-32601"), std::string::npos);
}

TEST_F(dialogue, a_client_that_takes_no_events_is_not_asked) {
  gate.client = nullptr;
  gate.search.questions = {question};
  gate.search.answer(good_answer);
  gate.ask();
  ASSERT_EQ(gate.search.heard.size(), 1U);
  EXPECT_NE(gate.search.heard[0].find("takes no events"), std::string::npos);
}

TEST_F(dialogue, nothing_else_answers_once_the_client_has_been_asked) {
  gate.policy().fallback.steps = {cascade::tool_step{"backup__query", {}}, cascade::fixed_step{"instead", {}}};
  person.answers = {"{}"};
  gate.search.questions = {question};
  gate.search.answer(test::reply_of(port::fault::lost));
  const heard answer = gate.ask();
  EXPECT_TRUE(answer.is_error());
  EXPECT_TRUE(gate.backup.calls().empty());
}

TEST_F(dialogue, nothing_else_answers_a_client_that_goes_on_with_a_dialogue) {
  gate.policy().fallback.steps = {cascade::fixed_step{"instead", {}}};
  gate.search.answer(test::reply_of(port::fault::connect_failed));
  const heard answer = gate.send(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search__query","inputResponses":{}}})");
  EXPECT_TRUE(answer.is_error());
}

TEST_F(dialogue, a_modern_servers_question_is_put_to_a_legacy_client_and_the_request_sent_again) {
  gate.search.speaks = protocol::era::modern;
  person.answers = {R"({"action":"accept","content":{"n":"Ada"}})", R"({"roots":[]})"};
  gate.search.answer(asks_for_name);
  gate.search.answer(good_answer);
  EXPECT_EQ(boost::json::serialize(gate.ask().result()), good_result);
  EXPECT_EQ(person.asked,
            (std::vector<std::string>{
                R"({"jsonrpc":"2.0","id":"name","method":"elicitation/create","params":{"message":"Who?"}})",
                R"({"jsonrpc":"2.0","id":"where","method":"roots/list"})"}));
  ASSERT_EQ(gate.search.calls().size(), 2U);
  EXPECT_EQ(gate.search.calls()[1].input_responses,
            R"({"name":{"action":"accept","content":{"n":"Ada"}},"where":{"roots":[]}})");
  EXPECT_EQ(gate.search.calls()[1].request_state, R"("s1")");
}

TEST_F(dialogue, a_legacy_client_that_does_not_answer_ends_it_with_the_reason) {
  gate.search.speaks = protocol::era::modern;
  gate.search.answer(asks_for_name);
  const heard answer = gate.ask();
  EXPECT_TRUE(answer.is_error());
  EXPECT_NE(answer.words().find("it asks the client for elicitation/create, and there is no answer: no, thanks"),
            std::string::npos)
      << answer.words();
}

TEST_F(dialogue, a_server_that_never_stops_asking_is_not_asked_for_ever) {
  gate.search.speaks = protocol::era::modern;
  for (int i = 0; i < 20; ++i) {
    gate.search.answer(R"({"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","requestState":"s"}})");
  }
  const heard answer = gate.ask();
  EXPECT_NE(answer.words().find("does not stop asking"), std::string::npos) << answer.words();
  EXPECT_EQ(gate.search.calls().size(), 11U);
}

TEST_F(dialogue, a_question_is_neither_a_success_nor_a_failure_of_the_tool) {
  gate.search.speaks = gate.asker.era = protocol::era::modern;
  gate.search.answer(asks_for_name);
  const heard answer = gate.ask();
  EXPECT_EQ(answer.result().at("resultType").as_string(), "input_required");
  const breaker::counts counted = gate.counted("search__query");
  EXPECT_EQ(counted.calls, 0U);
}

TEST_F(dialogue, a_stand_in_for_a_modern_client_is_a_complete_result) {
  gate.asker.era = protocol::era::modern;
  gate.policy().fallback.steps = {cascade::fixed_step{"instead", {}}};
  gate.search.answer(test::reply_of(port::fault::connect_failed));
  EXPECT_EQ(gate.ask().result().at("resultType").as_string(), "complete");
}

TEST_F(dialogue, a_legacy_servers_result_is_complete_for_a_modern_client) {
  gate.asker.era = protocol::era::modern;
  gate.search.answer(good_answer);
  EXPECT_EQ(gate.ask().result().at("resultType").as_string(), "complete");
}

}  // namespace
}  // namespace switchgear::call
