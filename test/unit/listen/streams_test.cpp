#include "replica.hpp"
#include "wire.hpp"

#include <gtest/gtest.h>

#include <string>

namespace switchgear::listen {
namespace {

constexpr std::string_view event_end = "\n\n\r\n";
constexpr std::string_view may_sample = R"({"sampling":{}})";

std::shared_ptr<port::offer> offer_of(std::string tools) {
  auto made = std::make_shared<port::offer>();
  made->legacy[0] = made->modern[0] = std::move(tools);
  made->legacy_capabilities = made->modern_capabilities = "{}";
  made->has = {true, true, true, false};
  made->subscribes = made->logs = true;
  return made;
}

class a_front : public testing::Test {
 protected:
  headers of(const std::string& session) { return {{"Mcp-Session-Id", session}}; }

  std::string post(const std::string& session, std::string_view body) {
    return wire(here.port()).exchange("POST", of(session), body);
  }

  /// A session's stream, open.
  std::unique_ptr<wire> open_stream(const std::string& session) {
    auto stream = std::make_unique<wire>(here.port());
    stream->send("GET", of(session));
    EXPECT_TRUE(has(stream->until(event_end), ": keep-alive"));
    return stream;
  }

  replica here;
};

TEST_F(a_front, opens_a_sessions_stream_with_a_comment_at_once) {
  const std::string session = initialize(here.port());
  wire stream(here.port());
  stream.send("GET", of(session));
  const std::string text = stream.until(event_end);
  EXPECT_TRUE(text.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n")) << text;
  EXPECT_TRUE(has(text, "X-Accel-Buffering: no\r\n"));
}

TEST_F(a_front, tells_streams_which_lists_changed_and_nothing_when_none_did) {
  here.clients().use(offer_of("one"));
  const std::string session = initialize(here.port());
  const auto stream = open_stream(session);
  here.clients().use(offer_of("one"));
  here.clients().use(offer_of("two"));
  EXPECT_EQ(stream->until(event_end),
            "45\r\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n\r\n");
  here.clients().send(session, "{}");
  EXPECT_EQ(stream->until(event_end), "a\r\ndata: {}\n\n\r\n");
}

TEST_F(a_front, gives_the_stream_to_the_one_who_opened_it_last) {
  const std::string session = initialize(here.port());
  const auto first = open_stream(session);
  const auto second = open_stream(session);
  EXPECT_TRUE(first->rest().ends_with("0\r\n\r\n"));
  here.clients().send(session, "{}");
  EXPECT_TRUE(has(second->until(event_end), "data: {}"));
}

TEST_F(a_front, refuses_a_stream_of_no_session) {
  EXPECT_TRUE(wire(here.port()).exchange("GET", of("unknown")).starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(wire(here.port()).exchange("GET", {}).starts_with("HTTP/1.1 405 "));
  headers json = of(initialize(here.port()));
  json["Accept"] = "application/json";
  EXPECT_TRUE(wire(here.port()).exchange("GET", json).starts_with("HTTP/1.1 406 "));
}

TEST_F(a_front, ends_a_session_and_its_stream_on_delete) {
  const std::string session = initialize(here.port());
  const auto stream = open_stream(session);
  EXPECT_TRUE(wire(here.port()).exchange("DELETE", of(session)).starts_with("HTTP/1.1 204 "));
  EXPECT_TRUE(stream->rest().ends_with("0\r\n\r\n"));
  EXPECT_TRUE(post(session, call("echo")).starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(wire(here.port()).exchange("DELETE", of(session)).starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(soon([&] { return here.ended() == std::vector<std::string>{session}; }));
}

TEST_F(a_front, tells_of_a_resource_to_whoever_subscribed_and_says_what_is_watched) {
  here.clients().use(offer_of("one"));
  const std::string session = initialize(here.port());
  const std::string other = initialize(here.port());
  const auto stream = open_stream(session);
  const auto bystander = open_stream(other);
  const auto about = [](std::string_view method) {
    return R"({"jsonrpc":"2.0","id":1,"method":"resources/)" + std::string(method) + R"(","params":{"uri":"a:b"}})";
  };
  EXPECT_TRUE(post(session, about("subscribe")).starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(soon([&] { return here.watched() == std::vector<std::string>{"a:b"}; }));
  here.clients().resource_updated("a:b");
  here.clients().resource_updated("a:c");
  EXPECT_TRUE(has(stream->until(event_end), R"("method":"notifications/resources/updated","params":{"uri":"a:b"}})"));
  post(session, about("unsubscribe"));
  EXPECT_TRUE(soon([&] { return here.watched().empty(); }));
  here.clients().resource_updated("a:b");
  here.clients().send(session, "{}");
  here.clients().send(other, "{}");
  EXPECT_EQ(stream->until(event_end), "a\r\ndata: {}\n\n\r\n");
  EXPECT_EQ(bystander->until(event_end), "a\r\ndata: {}\n\n\r\n");
}

TEST_F(a_front, drops_the_stream_of_a_client_that_does_not_read) {
  const std::string session = initialize(here.port());
  const auto stream = open_stream(session);
  const std::string large(200 * 1024, ' ');
  for (int i = 0; i < 100; ++i) here.clients().send(session, "{" + large + "}");
  EXPECT_TRUE(soon([&] {
    const auto found = here.clients().find(session, {}, async::worker::now());
    stream->until(event_end);
    return found->stream() == 0;
  }));
}

TEST_F(a_front, carries_a_question_to_the_client_and_its_response_back) {
  const std::string session = initialize(here.port(), may_sample, "2025-06-18");
  wire asked(here.port());
  asked.send("POST", of(session), call("ask", "7"));
  const std::string question = asked.until(event_end);
  EXPECT_TRUE(has(question, R"("method":"sampling/createMessage")")) << question;
  const std::size_t at = question.find("\"sg");
  const std::string id = question.substr(at, question.find('"', at + 1) + 1 - at);
  EXPECT_FALSE(has(question, "server-1"));

  const std::string response = R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"model":"m"}})";
  const std::string stranger = initialize(here.port(), may_sample, "2025-06-18");
  EXPECT_TRUE(post(stranger, response).starts_with("HTTP/1.1 202 "));  // of another session: dropped
  EXPECT_TRUE(post(session, R"({"jsonrpc":"2.0","id":"nothing","result":{}})").starts_with("HTTP/1.1 202 "));
  EXPECT_TRUE(
      post(session, R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"model":"m"}})").starts_with("HTTP/1.1 202 "));
  const std::string answer = asked.until("0\r\n\r\n");
  EXPECT_TRUE(has(answer, R"("id":7,"result":{"said":{"jsonrpc":"2.0","id":"server-1","result":{"model":"m"}}})"))
      << answer;
}

TEST_F(a_front, does_not_ask_a_client_that_cannot_be_asked) {
  const std::string session = initialize(here.port());
  EXPECT_TRUE(has(post(session, call("ask")), R"({"said":{"jsonrpc":"2.0","id":"server-1","error":{"code":-32601)"));
}

TEST_F(a_front, answers_for_a_client_that_has_gone_and_lets_its_call_go_on) {
  const std::string session = initialize(here.port(), may_sample, "2025-06-18");
  {
    wire asked(here.port());
    asked.send("POST", of(session), call("ask"));
    asked.until(event_end);
  }
  // The call has ended, and the session can be used on.
  EXPECT_TRUE(has(post(session, call("echo")), R"("session":")" + session));
}

TEST_F(a_front, asks_on_the_sessions_stream_what_belongs_to_no_request) {
  const std::string session = initialize(here.port(), may_sample);
  const std::string question = R"({"jsonrpc":"2.0","id":5,"method":"sampling/createMessage"})";
  const auto ask = [&] {
    return boost::asio::co_spawn(
        here.control.io,
        [](replica& to, std::string who, std::string_view text) -> boost::asio::awaitable<std::string> {
          protocol::scratch space;
          const auto seen = protocol::peek(text, space);
          async::interrupt until(to.control.timers);
          co_return co_await to.clients().ask(to.control, std::move(who), text, *seen, until);
        }(here, session, question),
        boost::asio::use_future);
  };
  EXPECT_TRUE(has(ask().get(), R"("id":5,"error":)"));  // no stream yet

  auto stream = open_stream(session);
  auto answered = ask();
  const std::string event = stream->until(event_end);
  const std::size_t at = event.find("\"sg");
  const std::string id = event.substr(at, event.find('"', at + 1) + 1 - at);
  post(session, R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":-1,"message":"no"}})");
  EXPECT_EQ(answered.get(), R"({"jsonrpc":"2.0","id":5,"error":{"code":-1,"message":"no"}})");

  auto lost = ask();
  stream->until(event_end);
  stream->close();
  EXPECT_TRUE(has(lost.get(), "the client has gone"));
}

TEST_F(a_front, keeps_the_log_level_of_a_session) {
  here.clients().use(offer_of("one"));
  const std::string session = initialize(here.port());
  const auto level = [&](std::string_view name) {
    return post(session, R"({"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":")" +
                             std::string(name) + "\"}}");
  };
  EXPECT_TRUE(has(post(session, call("echo")), R"("level":null)"));
  EXPECT_TRUE(has(level("debug"), R"("result":{}})"));
  EXPECT_TRUE(has(level("loud"), "-32602"));
  EXPECT_TRUE(has(post(session, call("echo")), R"("level":"debug")"));
}

TEST_F(a_front, lets_a_client_go_that_comes_back_for_its_answer) {
  const std::string session = initialize(here.port());
  wire calling(here.port());
  calling.send("POST", of(session), call("poll", "9"));
  const std::string early = calling.until("0\r\n\r\n");
  const std::size_t at = early.find("id: ") + 4;
  const std::string id = early.substr(at, early.find('\n', at) - at);
  EXPECT_TRUE(has(early, "retry: 500\ndata: \n\n")) << early;
  EXPECT_FALSE(has(early, "\"id\":9"));
  // The connection serves on while the call does.
  EXPECT_TRUE(has(calling.exchange("POST", of(session), call("echo")), "\"result\""));

  headers back = of(session);
  back["Last-Event-ID"] = id;
  calling.send("GET", back);
  EXPECT_TRUE(has(calling.until(event_end), ": keep-alive"));
  post(session, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}})");
  EXPECT_TRUE(has(calling.until("0\r\n\r\n"), R"("id":9,"result":)"));
  EXPECT_TRUE(wire(here.port()).exchange("GET", back).starts_with("HTTP/1.1 405 "));  // it was given once
}

TEST_F(a_front, keeps_the_answer_for_a_client_whose_stream_broke) {
  const std::string session = initialize(here.port(), may_sample);
  std::string id;
  {
    wire calling(here.port());
    calling.send("POST", of(session), call("ask", "9"));
    const std::string first = calling.until(event_end);
    const std::size_t at = first.find("id: ") + 4;
    id = first.substr(at, first.find('\n', at) - at);
  }
  headers back = of(session);
  back["Last-Event-ID"] = id;
  wire again(here.port());
  again.send("GET", back);
  EXPECT_TRUE(has(again.until("0\r\n\r\n"), R"("id":9,"result":{"said":)"));
}

TEST_F(a_front, does_not_let_clients_of_earlier_revisions_go) {
  const std::string session = initialize(here.port(), "{}", "2025-06-18");
  wire calling(here.port());
  calling.send("POST", of(session), call("poll", "9"));
  ASSERT_TRUE(soon([&] { return here.handler.waiting == 1; }));
  post(session, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}})");
  EXPECT_TRUE(has(calling.response(), R"("id":9,"result":)"));
}

TEST_F(a_front, ends_streams_at_once_when_it_drains) {
  const std::string session = initialize(here.port());
  const auto stream = open_stream(session);
  wire listening(here.port());
  listening.send("POST", modern_headers("subscriptions/listen"),
                 modern("subscriptions/listen", R"("notifications":{"toolsListChanged":true},)", "\"x\""));
  EXPECT_TRUE(has(listening.until(event_end), "subscriptions/acknowledged"));
  here.drain();
  EXPECT_TRUE(stream->rest().ends_with("0\r\n\r\n"));
  EXPECT_TRUE(has(listening.rest(), R"("id":"x","result":{"resultType":"complete","_meta":)"
                                    R"({"io.modelcontextprotocol/subscriptionId":"x"}}})"));
}

}  // namespace
}  // namespace switchgear::listen
