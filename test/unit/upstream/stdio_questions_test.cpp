// What a child wants to know of a client, during a call and outside.
#include "unit/upstream/stdio_fixture.hpp"

namespace switchgear::test {
namespace {

using namespace std::chrono_literals;
using port::fault;

constexpr const char* one_sampling =
    R"({"questions":[{"id":"s\"1","method":"sampling/createMessage","params":{"maxTokens":5}}]})";

class question_of_a_child : public stdio_fixture {
 protected:
  question_of_a_child() {
    role.abilities.sampling = true;
    role.abilities.elicitation_form = true;
    role.abilities.roots = true;
  }
};

TEST_F(question_of_a_child, goes_to_the_client_of_its_call_and_the_answer_comes_back) {
  start_ready();

  const called answer = call("ask", one_sampling);

  ASSERT_EQ(answer.heard.size(), 1U);
  EXPECT_NE(answer.heard[0].find("maxTokens"), std::string::npos);
  EXPECT_EQ(answer.text, R"([{"jsonrpc": "2.0", "id": "s\"1", "result": {"model": "m"}}])");
}

TEST_F(question_of_a_child, is_one_of_several_at_once) {
  start_ready();

  auto asking = call_soon("ask", R"({"questions":[{"id":1,"method":"elicitation/create","params":{}},)"
                                 R"({"id":2,"method":"sampling/createMessage","params":{}}]})");
  // The first stays open with the client, and its end does not hold up the second.
  EXPECT_TRUE(receives({R"("id":2,"result":{"model":"m"})"}));
  cancel_call("ask");
  EXPECT_EQ(asking.get().fault, fault::cancelled);
}

TEST_F(question_of_a_child, that_is_taken_back_ends_and_gets_no_answer) {
  start_ready();
  auto asking = call_soon("ask", R"({"questions":[{"id":"q","method":"elicitation/create","params":{}}]})");
  ASSERT_TRUE(receives({"\"ask\""}));

  call("say", R"({"messages":[{"method":"notifications/cancelled","params":{"requestId":"q"}}]})");
  // The same id again would be noise if the first were still open.
  const called again = call("ask", R"({"questions":[{"id":"q","method":"sampling/createMessage","params":{}}]})");

  EXPECT_NE(again.text.find("\"model\""), std::string::npos);
  for (const std::string& line : received()) EXPECT_EQ(line.find("nobody waits"), std::string::npos) << line;
  cancel_call("ask");
}

TEST_F(question_of_a_child, ends_with_its_call) {
  start_ready();

  const called answer = call("ask", R"({"questions":[{"id":7,"method":"elicitation/create","params":{}}]})", 100ms);

  EXPECT_EQ(answer.fault, fault::deadline_after_head);
  EXPECT_TRUE(receives({"\"id\":7", "nobody waits"}));
}

TEST_F(question_of_a_child, ends_with_the_child) {
  start_ready();
  auto asking = call_soon("ask", R"({"questions":[{"id":7,"method":"elicitation/create","params":{}}]})");
  ASSERT_TRUE(receives({"\"ask\""}));

  call("die");

  EXPECT_EQ(asking.get().fault, fault::lost);
}

TEST_F(question_of_a_child, outside_any_call_goes_to_the_observer) {
  start_ready();

  call("ask_later", R"({"questions":[{"id":"r","method":"roots/list"}]})");

  EXPECT_TRUE(receives({R"("id":"r","result":{"roots":[]})"}));
  ASSERT_EQ(observed.questions().size(), 1U);
  EXPECT_NE(observed.questions()[0].find("roots/list"), std::string::npos);
}

TEST_F(question_of_a_child, that_the_client_did_not_allow_is_refused) {
  role.abilities.roots = false;
  start_ready();

  const called answer = call("ask", R"({"questions":[{"id":1,"method":"roots/list"}]})");

  EXPECT_NE(answer.text.find("-32601"), std::string::npos);
  EXPECT_TRUE(answer.heard.empty());
}

TEST_F(question_of_a_child, is_refused_when_the_child_serves_everybody) {
  role = {};
  start_ready();

  const called answer = call("ask", one_sampling);

  EXPECT_NE(answer.text.find("-32601"), std::string::npos);
  EXPECT_TRUE(answer.heard.empty());
  EXPECT_TRUE(observed.questions().empty());
}

TEST_F(question_of_a_child, is_refused_when_too_many_are_open) {
  start_ready();
  std::string questions;
  for (int id = 1; id <= 65; ++id) {
    questions += (id == 1 ? "" : ",") + std::string(R"({"id":)") + std::to_string(id) +
                 R"(,"method":"elicitation/create","params":{}})";
  }

  auto asking = call_soon("ask", R"({"questions":[)" + questions + "]}");

  EXPECT_TRUE(receives({"\"id\":65,", "-32603"}));
  cancel_call("ask");
  EXPECT_EQ(asking.get().fault, fault::cancelled);
}

TEST_F(question_of_a_child, may_be_a_ping_at_any_time) {
  role = {};
  start_ready();

  call("ask_later", R"({"questions":[{"id":0,"method":"ping"}]})");

  EXPECT_TRUE(receives({R"({"jsonrpc":"2.0","id":0,"result":{}})"}));
}

TEST_F(question_of_a_child, keeps_its_place_among_notifications) {
  start_ready();

  const called answer = call("ask", R"({"questions":[{"method":"notifications/before"},)"
                                    R"({"id":1,"method":"sampling/createMessage","params":{}},)"
                                    R"({"method":"notifications/after"}]})");

  ASSERT_EQ(answer.heard.size(), 3U);
  EXPECT_NE(answer.heard[0].find("before"), std::string::npos);
  EXPECT_NE(answer.heard[1].find("sampling"), std::string::npos);
  EXPECT_NE(answer.heard[2].find("after"), std::string::npos);
}

}  // namespace
}  // namespace switchgear::test
