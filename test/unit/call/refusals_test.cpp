// Who is refused is told when to come again: in the marker, and for the head of the response. RC-068.
#include "unit/call/gateway.hpp"

namespace switchgear::call {
namespace {

using cascade::fixed_step;
using port::fault;
using test::reply_of;

port::reply throttled(duration retry_after) {
  port::reply made = reply_of(fault::bad_status, 429, "slow down");
  made.retry_after = retry_after;
  return made;
}

std::int64_t retry_after_ms(const heard& answer) {
  return boost::json::parse(answer.marker()).at("retry_after_ms").as_int64();
}

TEST(a_refusal, says_when_to_come_again_in_whole_seconds) {
  struct {
    duration left;
    unsigned seconds;
  } const cases[] = {{1ms, 1}, {6500ms, 7}, {7s, 7}, {10min, 600}};
  for (const auto& [left, seconds] : cases) {
    gateway gate;
    gate.known();
    gate.breakers.open("search__query", 1s, left + 100ms);
    const heard answer = gate.ask();
    EXPECT_NEAR(gate.retry_after, seconds, 1);
    EXPECT_EQ(gate.retry_after, static_cast<unsigned>((retry_after_ms(answer) + 999) / 1000));
  }
}

TEST(a_refusal, of_a_full_gateway_says_so_too) {
  gateway gate;
  gate.search.answer(reply_of(fault::overloaded));
  const heard answer = gate.ask();
  EXPECT_NE(answer.marker().find(R"("reason":"overloaded")"), std::string::npos) << answer.marker();
  EXPECT_EQ(retry_after_ms(answer), 1000);
  EXPECT_EQ(gate.retry_after, 1u);
}

TEST(a_refusal, by_the_operators_word_promises_no_moment) {
  gateway gate;
  gate.known();
  gate.breakers.put("search__query", {.state = breaker::state::open, .forced = true, .retry_after = 10s});
  EXPECT_EQ(gate.ask().marker().find("retry_after_ms"), std::string::npos);
  EXPECT_EQ(gate.retry_after, 0u);
}

TEST(a_refusal, of_the_server_in_its_own_words_is_passed_on_with_the_time) {
  constexpr std::string_view words = R"({"jsonrpc":"2.0","id":7,"error":{"code":-32005,"message":"slow down"}})";
  constexpr std::string_view requests[] = {
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search__query","arguments":{}}})",
      R"({"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"search__greet"}})"};
  for (const std::string_view request : requests) {
    gateway gate;
    port::reply busy = reply_of(words, 429);
    busy.retry_after = 6500ms;
    gate.search.answer(std::move(busy));
    const heard answer = gate.send(request);
    EXPECT_EQ(answer.json.at("error").at("message").as_string(), "slow down");
    EXPECT_EQ(gate.retry_after, 7u);
  }
}

TEST(an_answer_that_is_given, says_nothing_of_coming_again) {
  gateway gate;
  gate.policy().fallback.steps = {fixed_step{"fixed", ""}};
  gate.search.answer(throttled(10s));
  EXPECT_EQ(gate.ask().words(), "fixed");
  EXPECT_EQ(gate.retry_after, 0u);
}

}  // namespace
}  // namespace switchgear::call
