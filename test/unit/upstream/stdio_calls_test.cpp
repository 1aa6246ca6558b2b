// Calls through a real child: who gets which answer, and what happens when none comes.
#include "unit/upstream/stdio_fixture.hpp"

namespace switchgear::test {
namespace {

using namespace std::chrono_literals;
using port::fault;

class call_to_a_child : public stdio_fixture {};

TEST_F(call_to_a_child, brings_the_childs_answer) {
  start_ready();

  const called answer = call("echo", R"({"text":"h\u00e9llo"})");

  EXPECT_EQ(answer.fault, fault::none) << answer.detail;
  EXPECT_EQ(answer.text, "h\xC3\xA9llo");
  EXPECT_TRUE(answer.sent);
}

TEST_F(call_to_a_child, waits_for_a_child_that_is_still_starting) {
  settings.stdio.command = small_server({"slow_start"});
  start();

  std::vector<std::future<called>> calls;
  for (int number = 0; number < 100; ++number) calls.push_back(call_soon("echo", R"({"text":"x"})"));

  for (auto& answer : calls) EXPECT_EQ(answer.get().text, "x");
  EXPECT_EQ(upstream().counted().starts, 1U);
}

TEST_F(call_to_a_child, that_is_still_starting_ends_by_its_deadline_unsent) {
  settings.stdio.command = small_server({"slow_start"});
  start();

  const called answer = call("echo", "{}", 50ms);

  EXPECT_EQ(answer.fault, fault::deadline_before_send);
  EXPECT_FALSE(answer.sent);
  EXPECT_LT(answer.took, 250ms);
}

TEST_F(call_to_a_child, passes_a_json_rpc_error_on) {
  start_ready();

  const called answer = call("no_such_tool");

  EXPECT_EQ(answer.fault, fault::none);
  EXPECT_NE(answer.body.find("-32602"), std::string::npos);
}

TEST_F(call_to_a_child, relays_progress_in_order_before_the_answer) {
  start_ready();

  const called answer = call("progress");

  ASSERT_EQ(answer.heard.size(), 3U);
  EXPECT_NE(answer.heard[0].find("\"progress\": 0"), std::string::npos);
  EXPECT_NE(answer.heard[2].find("\"progress\": 2"), std::string::npos);
  EXPECT_NE(answer.heard[0].find("\"progressToken\": " + answer.text), std::string::npos);
}

TEST_F(call_to_a_child, that_goes_silent_ends_at_its_deadline_and_harms_no_other) {  // RC-001 (d)
  start_ready();
  const std::string pid = call("pid").text;

  auto stalled = call_soon("stall", "{}", 300ms);
  for (int number = 0; number < 50; ++number) EXPECT_EQ(call("echo", R"({"text":"x"})").text, "x");
  const called answer = stalled.get();

  EXPECT_EQ(answer.fault, fault::deadline);
  EXPECT_TRUE(answer.sent);
  EXPECT_GE(answer.took, 300ms);
  EXPECT_LT(answer.took, 360ms);
  EXPECT_EQ(call("pid").text, pid);
  EXPECT_TRUE(until([&] { return call("received").text.find("notifications/cancelled") != std::string::npos; }));
}

TEST_F(call_to_a_child, that_answers_after_its_deadline_is_dropped_and_counted) {  // RC-004
  start_ready();
  const std::string pid = call("pid").text;

  const called late = call("later", R"({"seconds":0.3,"text":"A"})", 100ms);
  auto other = call_soon("later", R"({"seconds":0.3,"text":"B"})");

  EXPECT_EQ(late.fault, fault::deadline);
  EXPECT_EQ(other.get().text, "B");
  EXPECT_EQ(upstream().counted().late_answers, 2U);  // the progress, and the answer
  EXPECT_EQ(call("pid").text, pid);
}

TEST_F(call_to_a_child, that_the_client_cancels_is_cancelled_there_by_our_id) {
  start_ready();
  auto stalled = call_soon("stall");
  ASSERT_TRUE(until([&] { return call("received").text.find("\\\"stall\\\"") != std::string::npos; }));

  cancel_call("stall");

  EXPECT_EQ(stalled.get().fault, fault::cancelled);
  EXPECT_TRUE(until([&] { return call("received").text.find("the client cancelled") != std::string::npos; }));
}

TEST_F(call_to_a_child, is_lost_when_the_child_dies_and_says_what_it_last_said) {
  start_ready();

  const called answer = call("die");

  EXPECT_EQ(answer.fault, fault::lost);
  EXPECT_TRUE(answer.sent);
  EXPECT_EQ(answer.detail, "the child exited with status 3; its last words: out of cheese");
}

TEST_F(call_to_a_child, that_has_just_died_waits_for_the_next_child) {
  start_ready();
  call("die");

  const called answer = call("echo", R"({"text":"again"})");

  EXPECT_EQ(answer.text, "again") << answer.detail;
  EXPECT_EQ(upstream().counted().starts, 2U);
}

TEST_F(call_to_a_child, that_closed_its_stdout_is_lost_and_the_child_is_replaced) {
  start_ready();

  EXPECT_EQ(call("close_stdout").fault, fault::lost);
  EXPECT_EQ(call("echo", R"({"text":"again"})").text, "again");
}

TEST_F(call_to_a_child, that_does_not_read_fails_unsent_when_too_much_waits) {
  start_ready();
  const std::string request =
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":")" +
      std::string(9 * 1024 * 1024, 'a') + R"("}}})";

  auto blocker = call_soon("read_nothing", R"({"seconds":2})");
  std::vector<std::future<called>> calls;
  for (int number = 0; number < 3; ++number) calls.push_back(call_text(request, "echo", 1s));

  // One is being written, one waits for it, and there is no room for the last.
  EXPECT_EQ(calls[2].get().fault, fault::not_ready);
  EXPECT_EQ(calls[1].get().fault, fault::deadline_before_send);
  EXPECT_EQ(calls[0].get().fault, fault::deadline);
  EXPECT_EQ(blocker.get().text, "awake");
}

}  // namespace
}  // namespace switchgear::test
