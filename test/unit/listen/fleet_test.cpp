#include "replica.hpp"
#include "support/fake_fleet.hpp"
#include "wire.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace switchgear::listen {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view event_end = "\n\n\r\n";

class two_replicas : public testing::Test {
 protected:
  port::fleet* join(async::worker& control) {
    members.push_back(std::make_unique<test::fake_fleet>(shared, control));
    return members.back().get();
  }
  static port::fleet* join_of(void* self, async::worker& control) {
    return static_cast<two_replicas*>(self)->join(control);
  }

  headers of(const std::string& session) { return {{"Mcp-Session-Id", session}}; }
  std::string post(replica& to, const std::string& session, std::string_view body) {
    return wire(to.port()).exchange("POST", of(session), body);
  }
  std::unique_ptr<wire> open_stream(replica& at, const std::string& session) {
    auto stream = std::make_unique<wire>(at.port());
    stream->send("GET", of(session));
    EXPECT_TRUE(has(stream->until(event_end), ": keep-alive"));
    return stream;
  }

  test::fleet_memory shared;
  std::vector<std::unique_ptr<test::fake_fleet>> members;
  replica left{{}, join_of, this};
  replica right{{}, join_of, this};
};

TEST_F(two_replicas, serve_each_others_sessions) {
  const std::string session = initialize(left.port(), "{}", "2025-03-26");
  EXPECT_TRUE(has(post(right, session, call("echo")), R"("session":")" + session));
  EXPECT_TRUE(post(right, session, "[" + call("echo") + "]").starts_with("HTTP/1.1 200 "));  // by its own revision
}

TEST_F(two_replicas, agree_that_a_session_has_ended) {
  const std::string session = initialize(left.port());
  EXPECT_TRUE(wire(left.port()).exchange("DELETE", of(session)).starts_with("HTTP/1.1 204 "));
  EXPECT_TRUE(post(left, session, call("echo")).starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(post(right, session, call("echo")).starts_with("HTTP/1.1 404 "));
}

TEST_F(two_replicas, let_go_of_a_session_that_the_other_one_was_told_to_end) {
  const std::string session = initialize(left.port());
  const auto stream = open_stream(right, session);
  wire(left.port()).exchange("DELETE", of(session));
  EXPECT_TRUE(stream->rest().ends_with("0\r\n\r\n"));
  EXPECT_TRUE(post(right, session, call("echo")).starts_with("HTTP/1.1 404 "));
  EXPECT_EQ(right.ended(), std::vector<std::string>{session});
}

TEST_F(two_replicas, serve_sessions_when_nobody_can_vouch_for_them_but_none_that_they_ended_themselves) {
  const std::string session = initialize(left.port());
  const std::string ended = initialize(left.port());
  shared.away = true;
  EXPECT_TRUE(has(post(right, session, call("echo")), "\"result\""));
  wire(left.port()).exchange("DELETE", of(ended));
  EXPECT_TRUE(post(left, ended, call("echo")).starts_with("HTTP/1.1 404 "));
}

TEST_F(two_replicas, serve_a_new_session_before_the_note_of_it_has_arrived) {
  shared.slow = true;
  const std::string session = initialize(left.port());
  EXPECT_TRUE(has(post(right, session, call("echo")), "\"result\""));
  wire(left.port()).exchange("DELETE", of(session));
  EXPECT_TRUE(post(right, session, call("echo")).starts_with("HTTP/1.1 404 "));
}

TEST(is_trusted, depends_on_what_the_fleet_says_and_on_how_old_the_session_is) {
  using port::presence;
  EXPECT_TRUE(is_trusted(presence::alive, 100h, 30min));
  EXPECT_FALSE(is_trusted(presence::gone, 0s, 30min));
  EXPECT_TRUE(is_trusted(presence::unnoted, 29min, 30min));
  EXPECT_FALSE(is_trusted(presence::unnoted, 30min, 30min)) << "it was idle for too long";
  EXPECT_TRUE(is_trusted(presence::not_known, 23h, 30min));
  EXPECT_FALSE(is_trusted(presence::not_known, 24h, 30min));
}

TEST_F(two_replicas, serve_no_session_that_nobody_of_them_opened) {
  replica stranger;
  const std::string session = initialize(stranger.port());
  EXPECT_TRUE(post(left, session, call("echo")).starts_with("HTTP/1.1 404 "));
}

TEST_F(two_replicas, cancel_each_others_calls) {
  const std::string session = initialize(left.port());
  wire calling(left.port());
  calling.send("POST", of(session), call("wait", "9"));
  ASSERT_TRUE(soon([&] { return left.handler.waiting == 1; }));
  post(right, session, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}})");
  EXPECT_TRUE(has(calling.response(), R"("id":9)"));
  EXPECT_EQ(left.handler.interrupted, static_cast<int>(async::interrupt::reason::cancelled));
}

TEST_F(two_replicas, carry_a_response_to_where_it_was_asked_for) {
  const std::string session = initialize(left.port(), R"({"sampling":{}})", "2025-06-18");
  wire asked(left.port());
  asked.send("POST", of(session), call("ask", "7"));
  const std::string question = asked.until(event_end);
  const std::size_t at = question.find("\"sg");
  const std::string id = question.substr(at, question.find('"', at + 1) + 1 - at);
  EXPECT_TRUE(
      post(right, session, R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"far":1}})").starts_with("HTTP/1.1 202 "));
  EXPECT_TRUE(has(asked.until("0\r\n\r\n"), R"("result":{"far":1})"));
}

TEST_F(two_replicas, find_a_sessions_stream_wherever_it_is) {
  const std::string session = initialize(left.port());
  const auto first = open_stream(right, session);
  left.clients().send(session, R"({"n":1})");
  EXPECT_TRUE(has(first->until(event_end), R"({"n":1})"));
  const auto second = open_stream(left, session);
  EXPECT_TRUE(first->rest().ends_with("0\r\n\r\n"));
  right.clients().send(session, R"({"n":2})");
  EXPECT_TRUE(has(second->until(event_end), R"({"n":2})"));
}

TEST_F(two_replicas, tell_a_subscriber_of_a_change_that_the_other_one_heard_of) {
  auto offer = std::make_shared<port::offer>();
  offer->subscribes = true;
  left.clients().use(offer);
  const std::string session = initialize(left.port());
  const auto stream = open_stream(right, session);
  ASSERT_TRUE(soon([&] {
    return has(post(left, session, R"({"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a:b"}})"),
               "\"result\"");
  }));
  left.clients().resource_updated("a:b");
  EXPECT_TRUE(has(stream->until(event_end), R"("uri":"a:b")"));
}

}  // namespace
}  // namespace switchgear::listen
