// An agent that makes the same failing call again and again is told so, and the tool is spared.
#include "unit/call/gateway.hpp"

namespace switchgear::call {
namespace {

using cascade::fixed_step;
using port::fault;
using test::reply_of;

constexpr std::string_view not_found = R"({"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"image","data":""},)"
                                       R"({"type":"text","text":"no such \"city\""}],"isError":true}})";
constexpr std::string_view invalid = R"({"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"city is missing"}})";

/// A gateway whose one legacy client is stopped after three failures.
struct damped_gateway : gateway {
  explicit damped_gateway(std::string_view tools = plain_tool) : gateway(tools) {
    policy().loop = {.failures = 3, .window = 60s};
    asker.session = "a session";
  }
  void fail(unsigned times, std::string_view with = not_found, std::string_view arguments = "{}") {
    for (unsigned i = 0; i < times; ++i) {
      search.answer(with);
      EXPECT_FALSE(stopped(ask(arguments)));
    }
  }
  static bool stopped(const heard& answer) {
    return answer.text.find(R"("steps":["primary:repeated"])") != std::string::npos;
  }
  std::size_t calls() const { return search.calls().size(); }
};

TEST(a_call_that_keeps_failing, is_not_made_again_and_the_agent_is_told_what_to_do) {
  damped_gateway gate;
  gate.fail(3);

  const heard answer = gate.ask("{}", R"("mine")");

  EXPECT_EQ(gate.calls(), 3u);
  EXPECT_EQ(answer.json.at("id").as_string(), "mine");
  EXPECT_TRUE(answer.is_error());
  EXPECT_TRUE(answer.degraded);
  EXPECT_EQ(gate.status, 200);
  EXPECT_EQ(gate.retry_after, 0u) << "to come again later is not what it should do";
  EXPECT_EQ(answer.marker(), R"({"degraded":true,"served_by":"none","repeated":3,"steps":["primary:repeated"]})");
  EXPECT_EQ(
      answer.words(),
      "Not called: search__query was called with exactly these arguments 3 times in the last 1 min, and failed each "
      "time. The last error began: \"no such \"city\"\". The same call would fail again. Change the arguments, use "
      "another tool, or go on without this answer and say so.");
  const port::call_record& record = gate.recorder.calls.at(3);
  EXPECT_TRUE(record.damped);
  EXPECT_TRUE(record.is_error);
  EXPECT_FALSE(record.refused);
  EXPECT_EQ(record.served_by, cascade::served_by::none);
  EXPECT_EQ(record.reason, cascade::reason::none);
  EXPECT_FALSE(gate.recorder.calls.at(2).damped);
}

TEST(a_call_that_keeps_failing, is_made_all_the_same_by_default) {
  damped_gateway gate;
  gate.policy().loop = {};
  gate.fail(10);
  EXPECT_EQ(gate.calls(), 10u);
  EXPECT_TRUE(gate.loops.empty());
}

TEST(a_call_that_keeps_failing, is_the_same_however_its_arguments_are_written) {
  damped_gateway gate;
  gate.fail(1, not_found, R"({"a":1,"b":"ä"})");
  gate.fail(1, not_found, R"({ "b" : "\u00e4", "a" : 1 })");
  gate.fail(1, not_found, R"({"b":"ä","a":1})");
  EXPECT_TRUE(gate.stopped(gate.ask(R"({"a":1,"b":"ä"})")));
  for (const char* other : {R"({"a":1.0,"b":"ä"})", R"({"a":1})", R"({"a":1,"b":"ä","c":null})", "{}"}) {
    gate.fail(1, not_found, other);
  }
}

TEST(a_call_that_keeps_failing, is_one_of_one_session_and_one_tool) {
  damped_gateway gate(R"([{"name":"query","inputSchema":{}},{"name":"other","inputSchema":{}}])");
  gate.policies["search__other"].loop = gate.policy().loop;
  gate.fail(3);
  EXPECT_TRUE(gate.stopped(gate.ask()));
  gate.search.answer(not_found);
  EXPECT_FALSE(gate.stopped(
      gate.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search__other","arguments":{}}})")));
  gate.asker.session = "another session";
  gate.fail(3);
  EXPECT_TRUE(gate.stopped(gate.ask()));
}

TEST(a_call_that_keeps_failing, is_forgiven_when_it_succeeds_once) {
  damped_gateway gate;
  gate.fail(2);
  gate.search.answer(good_answer);
  EXPECT_EQ(gate.ask().words(), "fine");
  gate.fail(3);
  EXPECT_TRUE(gate.stopped(gate.ask()));
}

TEST(a_call_that_keeps_failing, is_made_again_after_its_time) {
  damped_gateway gate;
  gate.policy().loop.window = 60ms;
  gate.search.answer(not_found);
  gate.search.answer(not_found);
  gate.search.answer(not_found);
  gate.search.answer(good_answer);
  const time_point before = async::worker::now();
  while (gate.ask().is_error() && async::worker::now() - before < 5s) {
  }
  EXPECT_EQ(gate.calls(), 4u);
}

TEST(a_call_that_keeps_failing, may_fail_in_any_way_in_which_the_tool_has_a_say) {
  using maker = port::reply (*)();
  const maker makers[] = {[] { return reply_of(not_found); },
                          [] { return reply_of(invalid); },
                          [] { return reply_of(invalid, 400); },
                          [] { return reply_of(R"({"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"m"}})"); },
                          [] { return reply_of(fault::bad_status, 500); },
                          [] { return reply_of(fault::bad_status, 403); },
                          [] { return reply_of(fault::deadline); },
                          [] { return reply_of(fault::lost); }};
  for (const maker make : makers) {
    damped_gateway gate;
    for (int i = 0; i < 3; ++i) {
      gate.search.answer(make());
      EXPECT_FALSE(gate.stopped(gate.ask()));
    }
    EXPECT_TRUE(gate.stopped(gate.ask()));
  }
}

TEST(a_call_that_was_not_the_tools_to_answer, is_no_round_of_a_loop) {
  damped_gateway unreachable;
  for (int i = 0; i < 5; ++i) {
    unreachable.search.answer(reply_of(fault::connect_failed));
    EXPECT_FALSE(unreachable.stopped(unreachable.ask()));
  }
  damped_gateway throttled;
  throttled.search.answer(reply_of(fault::bad_status, 429));
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(throttled.stopped(throttled.ask()));
  damped_gateway refused;
  refused.known();
  refused.breakers.open("search__query", 1s, 21s);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(refused.stopped(refused.ask()));
  damped_gateway cancelled;
  cancelled.search.before_answer = [](async::interrupt& call) { call.raise(async::interrupt::reason::cancelled); };
  for (int i = 0; i < 5; ++i) {
    cancelled.search.answer(not_found);
    EXPECT_FALSE(cancelled.stopped(cancelled.ask()));
  }
  for (const gateway* each : {&unreachable, &throttled, &refused, &cancelled}) EXPECT_TRUE(each->loops.empty());
}

TEST(a_stand_in, neither_makes_a_loop_nor_ends_one) {
  damped_gateway gate;
  gate.policy().fallback.steps = {fixed_step{"fixed", ""}};
  gate.fail(2);
  for (int i = 0; i < 5; ++i) {
    gate.search.answer(reply_of(fault::bad_status, 500));
    EXPECT_EQ(gate.ask().words(), "fixed");
  }
  gate.fail(1);
  EXPECT_TRUE(gate.stopped(gate.ask())) << "and a step does not help the agent out of it";
}

TEST(a_client_without_a_session, is_told_apart_by_its_principal) {
  damped_gateway gate;
  gate.search.speaks = gate.asker.era = protocol::era::modern;
  gate.asker.session = {};
  gate.principal = "alice";
  gate.fail(3);
  const heard answer = gate.ask();
  EXPECT_TRUE(gate.stopped(answer));
  EXPECT_EQ(answer.result().at("resultType").as_string(), "complete");
  gate.principal = "bob";
  gate.fail(1);
}

TEST(a_client_without_session_and_name, is_never_stopped) {
  damped_gateway gate;
  gate.search.speaks = gate.asker.era = protocol::era::modern;
  gate.asker.session = {};
  gate.fail(10);
  EXPECT_TRUE(gate.loops.empty());
}

TEST(a_question_to_the_client, is_neither_a_failure_nor_a_success) {
  damped_gateway gate;
  gate.search.speaks = gate.asker.era = protocol::era::modern;
  gate.asker.session = {};
  gate.principal = "alice";
  gate.fail(2);
  gate.search.answer(R"({"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","inputRequests":{}}})");
  gate.ask();
  gate.fail(1);
  EXPECT_TRUE(gate.stopped(gate.ask()));
  // What goes on with a dialogue is no repetition, though the arguments are the same.
  gate.search.answer(not_found);
  const heard answer =
      gate.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search__query","arguments":{},)"
                R"("inputResponses":{"a":{}}}})");
  EXPECT_FALSE(gate.stopped(answer));
}

TEST(the_words_of_an_error, are_cut_and_stay_words) {
  damped_gateway gate;
  std::string text = R"({"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":")";
  for (int i = 0; i < 5000; ++i) text += "ä€";
  text += R"("}],"isError":true}})";
  gate.fail(3, text);
  const heard answer = gate.ask();
  EXPECT_TRUE(gate.stopped(answer));
  EXPECT_LT(answer.words().size(), 600u);
  EXPECT_NE(answer.words().find("ä€\". The same call"), std::string::npos) << answer.words();
}

TEST(the_words_of_an_error, may_be_missing) {
  for (const char* result :
       {R"({"isError":true})", R"({"content":[],"isError":true})",
        R"({"content":[3,{"text":4},{"text":""}],"isError":true})", R"({"content":"x","isError":true})"}) {
    damped_gateway gate;
    gate.fail(3, R"({"jsonrpc":"2.0","id":7,"result":)" + std::string(result) + "}");
    const heard answer = gate.ask();
    EXPECT_TRUE(gate.stopped(answer)) << result;
    EXPECT_EQ(answer.words().find("The last error"), std::string::npos) << answer.words();
  }
}

TEST(an_error_of_any_size, is_a_failure) {
  damped_gateway gate;
  const std::string text = R"({"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":")" +
                           std::string(1 << 20, 'x') + R"("}],"isError":true}})";
  gate.fail(3, text);
  EXPECT_TRUE(gate.stopped(gate.ask()));
}

}  // namespace
}  // namespace switchgear::call
