// How long a try may take, phase by phase, and how long a caller will wait. RC-001, RC-002.
#include "unit/call/gateway.hpp"

namespace switchgear::call {
namespace {

using async::interrupt;
using test::reply_of;

std::string timer_of(const heard& answer) {
  return std::string(answer.result().at("_meta").at(cascade::marker_key).at("timer").as_string());
}

TEST(a_try, ends_when_nothing_comes_within_its_first_byte_timeout) {
  gateway gate;
  gate.policy().timeout = {.first_byte = 20ms};
  gate.search.hang();

  const heard answer = gate.ask();

  EXPECT_EQ(timer_of(answer), "first_byte");
  EXPECT_NE(answer.words().find("sent nothing back for 20 ms"), std::string::npos) << answer.words();
  EXPECT_EQ(gate.counted("search__query").failures, 1u);
}

TEST(a_try, ends_when_it_falls_silent_after_it_had_begun) {
  gateway gate;
  gate.policy().timeout = {.first_byte = 2s, .idle = 30ms};
  gate.search.signs = {interrupt::sign::answer};
  gate.search.hang();

  const heard answer = gate.ask();

  EXPECT_EQ(timer_of(answer), "idle");
  EXPECT_NE(answer.words().find("fell silent for 30 ms"), std::string::npos) << answer.words();
}

TEST(progress, extends_the_idle_timeout_unless_the_operator_says_that_it_does_not) {
  for (const bool extends : {true, false}) {
    gateway gate;
    gate.policy().timeout = {.idle = 60ms, .progress_extends = extends};
    gate.search.signs.assign(12, interrupt::sign::progress);
    gate.search.between_signs = 20ms;
    gate.search.answer(good_answer);

    const heard answer = gate.ask();

    EXPECT_EQ(answer.is_error(), !extends);
    if (!extends) EXPECT_EQ(timer_of(answer), "idle");
  }
}

TEST(a_try, ends_at_its_total_timeout_and_the_deadline_whatever_comes) {
  gateway gate;
  gate.policy().timeout = {.idle = 200ms, .total = 60ms};
  gate.search.signs.assign(50, interrupt::sign::progress);
  gate.search.between_signs = 5ms;
  gate.search.hang();
  EXPECT_EQ(timer_of(gate.ask()), "total");

  gate.policy().timeout.total = {};
  gate.policy().deadline = 60ms;
  gate.list(plain_tool, plain_tool);
  gate.search.signs.assign(50, interrupt::sign::progress);
  gate.search.hang();
  EXPECT_EQ(timer_of(gate.ask()), "deadline");
}

TEST(a_try_that_ends_at_its_total_timeout, leaves_time_for_another) {
  gateway gate(reading_tool);
  gate.policy().timeout = {.total = 30ms};
  gate.policy().retry = {.attempts = 2, .backoff = 1ms, .longest_pause = 2ms};
  gate.search.hang();
  gate.search.answer(good_answer);

  EXPECT_EQ(gate.ask().words(), "fine");
  EXPECT_EQ(gate.search.calls().size(), 2u);
}

TEST(a_connection_that_was_not_made_in_time, is_named_by_its_own_timer) {
  gateway gate;
  gate.search.answer(reply_of(port::fault::connect_timed_out, 0, "no connection to h:1 within 2s"));
  EXPECT_EQ(timer_of(gate.ask()), "connect");
}

TEST(a_caller, may_shorten_the_deadline_and_not_lengthen_it) {
  gateway gate;
  gate.policy().deadline = 100ms;
  for (const auto& [wanted, least, most] : {std::tuple{"20", 20ms, 80ms}, {"60000", 100ms, 2000ms}}) {
    gate.search.hang();
    const time_point begin = async::worker::now();

    const heard answer = gate.ask("{}", "1", R"({"dev.switchgear/timeout_ms":)" + std::string(wanted) + "}");

    const duration took = async::worker::now() - begin;
    EXPECT_EQ(timer_of(answer), "deadline");
    EXPECT_GE(took, least);
    EXPECT_LT(took, most);
  }
}

TEST(a_callers_timeout, that_is_none_is_refused_by_name) {
  for (const char* wrong : {"0", "-5", "1.5", "\"20\"", "null", "[]", "-99999999999999999999"}) {
    gateway gate;
    const heard answer = gate.ask("{}", "1", R"({"dev.switchgear/timeout_ms":)" + std::string(wrong) + "}");
    EXPECT_EQ(answer.json.at("error").at("code").as_int64(), -32602) << wrong;
    EXPECT_NE(answer.text.find("timeout_ms"), std::string::npos);
    EXPECT_TRUE(gate.search.calls().empty());
  }
}

TEST(the_time_that_a_sidecar_says_is_left, shortens_the_deadline) {
  gateway gate;
  gate.policy().deadline = 3s;
  gate.head = "POST /mcp HTTP/1.1\r\nX-Envoy-Expected-Rq-Timeout-Ms: 30\r\n\r\n";
  gate.search.hang();
  EXPECT_EQ(timer_of(gate.ask()), "deadline");

  gate.head = "POST /mcp HTTP/1.1\r\nX-Envoy-Expected-Rq-Timeout-Ms: soon\r\n\r\n";
  gate.search.answer(good_answer);
  EXPECT_EQ(gate.ask().words(), "fine");
}

}  // namespace
}  // namespace switchgear::call
