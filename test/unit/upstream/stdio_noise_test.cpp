// Children with bad manners: RC-049 (stderr) and RC-050 (stdout).
#include "unit/upstream/stdio_fixture.hpp"

#include <fstream>

namespace switchgear::test {
namespace {

using namespace std::chrono_literals;
using port::fault;

class chatty_child : public stdio_fixture {};

TEST_F(chatty_child, serves_although_it_filled_the_stderr_pipe_before_its_first_answer) {
  settings.stdio.command = small_server({"chatty"});
  start_ready();

  EXPECT_EQ(call("echo", R"({"text":"x"})").text, "x");
  EXPECT_TRUE(observed.remarked("cccc"));
  EXPECT_LT(observed.remarks().size(), 60U);  // of 4096 lines
}

TEST_F(chatty_child, serves_although_ten_megabytes_on_stderr_have_no_line_end) {
  settings.stdio.command = small_server({"unbroken_stderr"});
  start_ready();

  EXPECT_EQ(call("echo", R"({"text":"x"})").text, "x");
}

TEST_F(chatty_child, answers_a_call_during_which_it_writes_forty_megabytes_on_stderr) {
  start_ready();

  EXPECT_EQ(call("burst", R"({"size":40000000})").text, "done");
}

TEST_F(chatty_child, lives_on_when_it_closes_its_stderr) {
  settings.stdio.command = small_server({"close_stderr"});
  start_ready();

  EXPECT_EQ(call("echo", R"({"text":"x"})").text, "x");
  EXPECT_EQ(upstream().counted().starts, 1U);
}

class noisy_child : public stdio_fixture {};

TEST_F(noisy_child, has_its_noise_skipped_counted_and_remarked_once) {
  settings.stdio.command = small_server({"noise"});
  start_ready();

  EXPECT_EQ(call("echo", R"({"text":"x"})").text, "x");

  EXPECT_EQ(upstream().counted().noise_lines, 6U);
  int remarks = 0;
  for (const std::string& line : observed.remarks()) remarks += line.find("Welcome to small") != std::string::npos;
  EXPECT_EQ(remarks, 1);
  EXPECT_EQ(observed.remarks().size(), 1U);
}

TEST_F(noisy_child, may_end_its_lines_with_carriage_returns) {
  settings.stdio.command = small_server({"crlf"});
  start_ready();

  EXPECT_EQ(call("echo", R"({"text":"x"})").text, "x");
}

TEST_F(noisy_child, may_put_two_messages_in_one_write) {
  start_ready();

  EXPECT_EQ(call("two_in_one_write").fault, fault::none);
}

TEST_F(noisy_child, may_write_byte_by_byte) {
  start_ready();

  EXPECT_EQ(call("big", R"({"size":50,"step":1})").text, std::string(50, 'x'));
}

TEST_F(noisy_child, may_write_a_large_answer_in_small_pieces) {
  start_ready();

  EXPECT_EQ(call("big", R"({"size":5242880,"step":4096})").text.size(), 5242880U);
}

TEST_F(noisy_child, may_exit_after_a_last_message_without_a_line_end) {
  start_ready();

  const called answer = call("last_words");

  EXPECT_EQ(answer.fault, fault::none) << answer.detail;
}

TEST_F(noisy_child, fails_only_the_call_whose_answer_is_over_the_limit) {
  settings.max_answer = 1024 * 1024;
  start_ready();

  for (const char* arguments : {R"({"size":3000000,"id_first":true})", R"({"size":3000000,"id_first":false})"}) {
    auto other = call_soon("later", R"({"seconds":0.2,"text":"B"})");
    const called large = call("big", arguments);

    EXPECT_EQ(large.fault, fault::too_large);
    EXPECT_TRUE(large.sent);
    EXPECT_EQ(other.get().text, "B");
  }
  EXPECT_EQ(upstream().counted().starts, 1U);
}

TEST_F(noisy_child, receives_exactly_one_line_of_json_a_message) {
  start_ready();

  const std::string request =
      "{\n \"jsonrpc\":\"2.0\",\r\n \"id\":1,\"method\":\"tools/call\",\n\"params\":{\"name\":\"x\",\n\"arguments\":"
      "{\"text\":\"a\\nb\xE2\x80\xA8"
      "c\"}}}";
  EXPECT_EQ(call_text(request, "echo", 10s).get().text,
            "a\nb\xE2\x80\xA8"
            "c");
}

TEST_F(noisy_child, gets_an_answer_to_its_own_requests) {
  start_ready();
  EXPECT_EQ(call("ask_client").text, "asked");

  const std::string received = call("received").text;

  EXPECT_NE(received.find(R"(\"id\":\"s1\",\"result\":{})"), std::string::npos) << received;
  EXPECT_NE(received.find("-32601"), std::string::npos);
}

}  // namespace
}  // namespace switchgear::test
