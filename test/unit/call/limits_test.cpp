// What a concurrency limit means for a call: it is refused at once or waits a moment, and nothing of it counts as the
// tool's fault.
#include "unit/call/gateway.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace switchgear::call {
namespace {

using cascade::ending;
using cascade::fixed_step;
using port::fault;
using port::limit_refusal;
using test::reply_of;

/// The calls of search__query are limited to one at once, and `queue` may wait.
gateway& limited(gateway& gate, unsigned queue = 0) {
  gate.policy().concurrency.limit = 1;
  gate.policy().concurrency.queue = queue;
  gate.policy().concurrency.queue_timeout = 10s;
  return gate;
}

limiter& limit_of(gateway& gate) {
  return *gate.known().find("search__query")->limit;
}
limiter& server_limit_of(gateway& gate) {
  return *gate.known().find("search__query")->server_limit;
}

/// Somebody else's call that is under way.
slot other_call(limiter& of) {
  slot made;
  EXPECT_TRUE(of.take("", made));
  return made;
}

/// Does something from another thread once a call waits.
class once_waiting {
 public:
  template <class Deed>
  once_waiting(limiter& at, Deed deed)
      : thread_([&at, deed = std::move(deed)] {
          const time_point limit = async::worker::now() + 5s;
          while (at.figures().waiting == 0 && async::worker::now() < limit) std::this_thread::yield();
          deed();
        }) {}
  ~once_waiting() { thread_.join(); }

 private:
  std::thread thread_;
};

TEST(a_call_at_the_limit, is_refused_at_once_and_told_why) {
  gateway gate;
  limited(gate);
  const slot other = other_call(limit_of(gate));

  const heard answer = gate.ask();

  EXPECT_TRUE(answer.is_error());
  EXPECT_EQ(answer.words(),
            "The gateway has no room for more calls of search__query: it is at its concurrency limit of 1 call. "
            "Retry in 1 s. You can use instead: backup__query.");
  EXPECT_NE(answer.marker().find(R"("reason":"overloaded")"), std::string::npos) << answer.marker();
  EXPECT_NE(answer.marker().find(R"("retry_after_ms":1000)"), std::string::npos) << answer.marker();
  EXPECT_NE(answer.marker().find(R"("steps":["primary:refused"])"), std::string::npos) << answer.marker();
  EXPECT_TRUE(gate.search.calls().empty());
}

TEST(a_call_at_the_limit, is_no_outcome_for_the_breaker_and_not_refused_by_it) {
  gateway gate;
  limited(gate);
  const slot other = other_call(limit_of(gate));
  gate.ask();
  EXPECT_EQ(gate.counted("search__query").calls, 0u);
  EXPECT_EQ(gate.counted("server:search").calls, 0u);
  EXPECT_FALSE(gate.recorder.calls.at(0).refused);
  EXPECT_EQ(gate.recorder.calls.at(0).reason, cascade::reason::overloaded);
}

TEST(a_call_at_the_limit, gets_a_stand_in) {
  gateway gate;
  limited(gate).policy().fallback.steps = {fixed_step{"later", ""}};
  const slot other = other_call(limit_of(gate));
  const heard answer = gate.ask();
  EXPECT_EQ(answer.words(), "later");
  EXPECT_NE(answer.marker().find(R"("reason":"overloaded")"), std::string::npos) << answer.marker();
}

TEST(a_call_at_the_limit, waits_for_a_slot_and_the_wait_is_not_the_tools) {
  gateway gate;
  limited(gate, 1).policy().breaker.p99 = 40ms;
  gate.search.answer(good_answer);
  slot other = other_call(limit_of(gate));
  const once_waiting frees(limit_of(gate), [&] {
    const time_point until = async::worker::now() + 100ms;
    while (async::worker::now() < until) std::this_thread::yield();
    other = {};
  });

  EXPECT_EQ(gate.ask().words(), "fine");

  EXPECT_FALSE(gate.recorder.calls.at(0).slow);
  EXPECT_GE(gate.recorder.calls.at(0).took, 100ms) << "the caller did wait";
  EXPECT_EQ(limit_of(gate).figures().in_flight, 0u);
}

TEST(a_call_at_the_limit, is_not_sent_when_the_breaker_opens_while_it_waits) {
  gateway gate;
  limited(gate, 1);
  slot other = other_call(limit_of(gate));
  {
    const once_waiting frees(limit_of(gate), [&] {
      gate.breakers.open("search__query", 1s, 21s);
      other = {};
    });
    EXPECT_NE(gate.ask().marker().find(R"("reason":"open")"), std::string::npos);
  }
  EXPECT_TRUE(gate.search.calls().empty());
  EXPECT_EQ(limit_of(gate).figures().in_flight, 0u);
}

TEST(a_call_at_the_limit, does_not_wait_for_a_tool_whose_breaker_is_open) {
  gateway gate;
  limited(gate, 1);
  const slot other = other_call(limit_of(gate));
  gate.breakers.open("search__query", 1s, 21s);
  EXPECT_NE(gate.ask().marker().find(R"("reason":"open")"), std::string::npos);
  EXPECT_EQ(limit_of(gate).figures().waits.sum, 0s);
}

TEST(a_call_at_the_limit, is_made_all_the_same_when_it_is_a_probe) {
  gateway gate;
  limited(gate);
  const slot hung = other_call(limit_of(gate));
  gate.breakers.put("search__query", {.state = breaker::state::half_open}, 1);
  gate.search.answer(good_answer);
  EXPECT_EQ(gate.ask().words(), "fine");
  EXPECT_EQ(limit_of(gate).figures().in_flight, 1u);
}

TEST(a_call_at_the_limit, is_overloaded_and_not_late_when_its_deadline_passes_in_the_queue) {
  gateway gate;
  limited(gate, 1).policy().deadline = 60ms;
  const slot other = other_call(limit_of(gate));
  const heard answer = gate.ask();
  EXPECT_NE(answer.marker().find(R"("reason":"overloaded")"), std::string::npos) << answer.marker();
  EXPECT_EQ(gate.counted("search__query").calls, 0u);
}

TEST(a_call_at_the_limit, can_be_given_up_while_it_waits) {
  gateway gate;
  limited(gate, 1);
  const slot other = other_call(limit_of(gate));
  gate.cancel_after = 30ms;
  const heard answer = gate.ask();
  EXPECT_NE(answer.marker().find(R"("steps":["primary:cancelled"])"), std::string::npos) << answer.marker();
  EXPECT_EQ(limit_of(gate).figures().waiting, 0u);
}

TEST(a_call_at_the_limit, leaves_the_queue_when_it_is_torn_down) {
  gateway gate;
  limited(gate, 1);
  {
    const slot other = other_call(limit_of(gate));
    gate.ask_and_vanish(
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search__query","arguments":{}}})");
    EXPECT_EQ(limit_of(gate).figures().waiting, 0u);
  }
  EXPECT_EQ(limit_of(gate).figures().in_flight, 0u);
}

TEST(a_slot, comes_back_however_the_call_ends) {
  gateway gate;
  limited(gate);
  gate.search.answer(good_answer);
  gate.search.answer(reply_of(fault::connect_failed));
  gate.search.answer(reply_of(fault::bad_status, 500));
  for (int i = 0; i < 3; ++i) {
    gate.ask();
    EXPECT_EQ(limit_of(gate).figures().in_flight, 0u);
  }
  EXPECT_EQ(gate.search.calls().size(), 3u);
}

TEST(a_slot, comes_back_when_the_call_is_torn_down) {
  gateway gate;
  limited(gate);
  gate.search.hang();
  gate.ask_and_vanish(
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search__query","arguments":{}}})");
  EXPECT_EQ(gate.search.calls().size(), 1u);
  EXPECT_EQ(limit_of(gate).figures().in_flight, 0u);
}

TEST(a_server_at_its_limit, refuses_calls_of_all_its_tools) {
  gateway gate;
  gate.server_concurrency["search"].limit = 1;
  gate.server_concurrency["search"].queue = 0;
  const slot other = other_call(server_limit_of(gate));
  EXPECT_NE(gate.ask().words().find("the server search is at its concurrency limit of 1 call"), std::string::npos);
}

TEST(a_server_at_its_limit, refuses_what_calls_no_tool) {
  gateway gate;
  gate.server_concurrency["search"].limit = 1;
  gate.server_concurrency["search"].queue = 0;
  const slot other = other_call(server_limit_of(gate));
  const heard answer =
      gate.send(R"({"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"search__greet"}})");
  EXPECT_EQ(answer.json.at("error").at("code").as_int64(), -31003);
}

TEST(a_server_at_its_limit, lets_the_slot_of_the_tool_go_again) {
  gateway gate;
  limited(gate);
  gate.server_concurrency["search"].limit = 1;
  gate.server_concurrency["search"].queue = 0;
  const slot other = other_call(server_limit_of(gate));
  gate.ask();
  EXPECT_EQ(limit_of(gate).figures().in_flight, 0u);
}

TEST(a_tool_at_its_limit, keeps_nothing_of_its_server) {
  gateway gate;
  limited(gate, 1).policy().concurrency.queue_timeout = 30ms;
  gate.server_concurrency["search"].limit = 1;
  const slot other = other_call(limit_of(gate));
  unsigned of_server = 1;
  {
    const once_waiting looks(limit_of(gate), [&] { of_server = server_limit_of(gate).figures().in_flight; });
    gate.ask();
  }
  EXPECT_EQ(of_server, 0u);
}

TEST(a_principal_with_its_share, is_told_so) {
  gateway gate;
  limited(gate).policy().concurrency.limit = 4;
  gate.policy().concurrency.principal_share = 0.25;
  gate.principal = "ann";
  slot own;
  EXPECT_TRUE(limit_of(gate).take("ann", own));
  EXPECT_NE(gate.ask().words().find("this caller already has 1 call of it under way, which is its share"),
            std::string::npos);
  gate.principal = "bob";
  gate.search.answer(good_answer);
  EXPECT_EQ(gate.ask().words(), "fine");
}

TEST(a_retry_that_a_limit_refuses, leaves_the_failure_as_the_reason) {
  gateway gate;
  limited(gate).policy().retry = {.attempts = 2, .backoff = 1ms, .longest_pause = 1ms};
  slot other;
  // Takes the place of the first try as soon as that has ended.
  gate.search.before_answer = [&](async::interrupt&) { other = limit_of(gate).force(); };
  gate.search.answer(reply_of(fault::connect_failed));

  const heard answer = gate.ask();

  EXPECT_EQ(gate.search.calls().size(), 1u);
  EXPECT_NE(answer.marker().find(R"("reason":"unreachable")"), std::string::npos) << answer.marker();
}

TEST(a_limit, learns_from_answers_and_not_from_errors) {
  gateway gate;
  limited(gate).policy().breaker.mode = breaker::mode::observe;
  constexpr std::string_view tool_error = R"({"jsonrpc":"2.0","id":7,"result":{"content":[],"isError":true}})";
  for (int i = 0; i < 20; ++i) gate.search.answer(i % 2 == 0 ? reply_of(tool_error) : reply_of(fault::bad_status, 500));
  for (int i = 0; i < 20; ++i) gate.ask();
  EXPECT_EQ(limit_of(gate).typical(), 0s);
  for (int i = 0; i < 10; ++i) gate.search.answer(good_answer);
  for (int i = 0; i < 10; ++i) gate.ask();
  EXPECT_GT(limit_of(gate).typical(), 0s);
}

TEST(a_limit, outlives_a_change_of_the_catalogue) {
  gateway gate;
  limited(gate);
  const std::shared_ptr<limiter> before = gate.known().find("search__query")->limit;
  gate.list(reading_tool, plain_tool);
  EXPECT_EQ(gate.known().find("search__query")->limit, before);
}

TEST(a_tool_without_a_limit, has_none) {
  gateway gate;
  EXPECT_FALSE(gate.known().find("search__query")->limited());
}

}  // namespace
}  // namespace switchgear::call
