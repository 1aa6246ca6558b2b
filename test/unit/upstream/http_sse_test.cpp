#include "http_fixture.hpp"

namespace switchgear::upstream {
namespace {

using namespace std::chrono_literals;
using port::fault;
using test::http_answer;
using test::in_chunk;
using test::mcp_request;
using test::stream_head;

// A server of the first revision: every POST is only taken, and what is to be said comes on the one stream.
class sse_server : public http_upstream_test {
 protected:
  void serve(std::string endpoint = "/message?session=1") {
    server.on("GET", [this, endpoint](const mcp_request&) {
      ++opened_;
      return stream_head + in_chunk("event: endpoint\ndata: " + endpoint + "\n\n");
    });
    server.on("", [this](const mcp_request& request) {
      if (!request.target.starts_with("/message")) return http_answer("404 Not Found", "Cannot POST /sse");
      if (request.method == "initialize") {
        say(request, R"({"protocolVersion":"2024-11-05","serverInfo":{"name":"first"},"capabilities":{}})");
      } else if (request.method == "tools/list") {
        say(request, R"({"tools":[{"name":"echo"}]})");
      } else if (request.method == "tools/call" && answers_) {
        say(request, R"({"content":[]})");
      }
      return http_answer("202 Accepted", "Accepted");
    });
  }
  void open(http_options options = {}) {
    start(options, "/sse");
    until([&] { return !news.states.empty(); }, "it was tried");
  }
  void say(const mcp_request& to, std::string_view result) {
    push(R"({"jsonrpc":"2.0","id":)" + to.id + R"(,"result":)" + std::string(result) + "}");
  }
  void push(std::string_view message) { server.push(test::as_event(message, "event: message\n")); }

  bool answers_ = true;
  unsigned opened_ = 0;
};

TEST_F(sse_server, is_found_when_it_takes_no_post) {
  serve();
  open();
  EXPECT_EQ(news.states[0].state, port::upstream_state::ready) << news.states[0].reason;
  EXPECT_EQ(news.states[0].protocol_version, "2024-11-05");
  ASSERT_EQ(news.listings.size(), 1u);
  const port::reply reply = call(echo_call, {}, &client);
  EXPECT_TRUE(reply.has_message);
  EXPECT_EQ(reply.status, 200);
  const mcp_request call_seen = server.arrived("tools/call").at(0);
  EXPECT_EQ(call_seen.target, "/message?session=1");
  EXPECT_TRUE(call_seen.has("Authorization: Bearer secret"));
}

TEST_F(sse_server, is_asked_for_nothing_else_when_it_is_said_to_be_one) {
  serve();
  says_sse = true;
  open({});
  EXPECT_EQ(news.states[0].state, port::upstream_state::ready);
  EXPECT_TRUE(server.arrived("server/discover").empty());
  EXPECT_EQ(server.arrived("initialize").size(), 1u);
}

TEST_F(sse_server, may_name_its_endpoint_with_its_whole_address) {
  serve(server.url("/message"));
  open();
  EXPECT_EQ(news.states[0].state, port::upstream_state::ready) << news.states[0].reason;
}

class sse_server_elsewhere : public sse_server, public testing::WithParamInterface<const char*> {};

TEST_P(sse_server_elsewhere, is_not_followed) {
  serve(GetParam());
  open();
  EXPECT_EQ(news.states[0].state, port::upstream_state::degraded);
  EXPECT_NE(news.states[0].reason.find("no address of the same origin"), std::string::npos) << news.states[0].reason;
  EXPECT_EQ(server.requests().size(), 3u) << "discovery, the greeting, the stream; nothing after that";
}

INSTANTIATE_TEST_SUITE_P(origins, sse_server_elsewhere,
                         testing::Values("http://127.0.0.1:1/message", "https://127.0.0.1/message",
                                         "//localhost/message", "http://u@127.0.0.1/message", "data:x", "\x01"));

TEST_F(sse_server, has_its_messages_sorted_to_whom_they_concern) {
  serve();
  open();
  answers_ = false;
  begin_call(R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"progressToken":"t"}}})",
             {}, &client);
  until([&] { return server.arrived("tools/call").size() == 1; }, "it is called");
  const std::string id = server.arrived("tools/call")[0].id;
  push(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)" + id + R"(,"progress":1}})");
  push(R"({"jsonrpc":"2.0","id":"r","method":"roots/list"})");
  push(R"({"jsonrpc":"2.0","id":"p","method":"ping"})");
  until([&] { return server.arrived("response").size() == 2; }, "both requests are answered");
  push(R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})");
  push(R"({"jsonrpc":"2.0","id":4711,"result":{}})");
  say(server.arrived("tools/call")[0], "{}");
  EXPECT_TRUE(finish_call().has_message);
  EXPECT_EQ(client.order, (std::vector<std::string>{"notifications/progress", "roots/list", "notifications/message"}));

  push(R"({"jsonrpc":"2.0","method":"notifications/x"})");
  push(R"({"jsonrpc":"2.0","id":"q","method":"roots/list"})");
  until([&] { return server.arrived("response").size() == 3; }, "between calls the gateway answers");
  EXPECT_EQ(news.notifications.size(), 1u);
  EXPECT_EQ(news.questions.size(), 1u);
  push(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  until([&] { return news.listings.size() == 2; }, "it is listed again");
}

TEST_F(sse_server, loses_what_is_under_way_with_its_stream_and_is_greeted_again) {
  serve();
  open();
  answers_ = false;
  begin_call(echo_call);
  until([&] { return server.arrived("tools/call").size() == 1; }, "it is called");
  server.cut_streams();
  const port::reply reply = finish_call();
  EXPECT_EQ(reply.fault, fault::lost);
  EXPECT_TRUE(reply.sent);
  answers_ = true;
  until([&] { return opened_ == 2 && news.listings.size() == 2; }, "a new session is there");
  EXPECT_TRUE(call(echo_call).has_message);
}

TEST_F(sse_server, that_forgot_the_session_gets_a_new_one_and_the_call_again) {
  serve();
  open();
  server.on("tools/call", [this, calls = 0](const mcp_request& request) mutable {
    if (++calls == 1) return http_answer("404 Not Found", "no such session");
    say(request, "{}");
    return http_answer("202 Accepted", "");
  });
  EXPECT_TRUE(call(echo_call).has_message);
  EXPECT_EQ(opened_, 2u);
}

TEST_F(sse_server, that_stays_silent_is_given_up_at_the_deadline_and_told) {
  serve();
  open();
  answers_ = false;
  begin_call(echo_call);
  until([&] { return server.arrived("tools/call").size() == 1; }, "it is called");
  settle(20ms);
  call_->interrupt.raise(async::interrupt::reason::deadline);
  EXPECT_EQ(finish_call().fault, fault::deadline);
  until([&] { return server.arrived("notifications/cancelled").size() == 1; }, "it is told");
  EXPECT_EQ(server.arrived("notifications/cancelled")[0].target, "/message?session=1");
}

}  // namespace
}  // namespace switchgear::upstream
