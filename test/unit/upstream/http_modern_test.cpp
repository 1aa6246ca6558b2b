#include "http_fixture.hpp"

namespace switchgear::upstream {
namespace {

using namespace std::chrono_literals;
using port::fault;
using test::as_event;
using test::mcp_request;
using test::stream_end;
using test::stream_head;

class modern_server : public http_upstream_test {
 protected:
  void open(std::string_view capabilities = R"({"tools":{}})") {
    be_modern(capabilities);
    start();
    until([&] { return !news.states.empty(); }, "it is ready");
  }
};

TEST_F(modern_server, is_found_and_listed_without_a_session) {
  open();
  EXPECT_EQ(upstream->era(), protocol::era::modern);
  EXPECT_EQ(upstream->status().protocol_version, "2026-07-28");
  ASSERT_EQ(news.listings.size(), 1u);
  EXPECT_EQ(news.listings[0].era, protocol::era::modern);
  EXPECT_TRUE(server.arrived("initialize").empty());
  EXPECT_TRUE(server.arrived("GET").empty());
  const mcp_request list = server.arrived("tools/list").at(0);
  EXPECT_TRUE(list.has("MCP-Protocol-Version: 2026-07-28") && list.has("Mcp-Method: tools/list"));
  EXPECT_NE(list.body.find(R"("io.modelcontextprotocol/clientCapabilities":{})"), std::string::npos);
}

TEST_F(modern_server, sees_in_the_head_what_the_body_says) {
  open();
  port::outgoing_request with;
  with.target = "wetter_münchen";
  with.mirrored = "Mcp-Param-City: x\r\n";
  with.client.abilities = {.sampling = true};
  with.client.log_level = R"("debug")";
  const port::reply reply = call(echo_call, with);
  EXPECT_EQ(reply.era, protocol::era::modern);
  EXPECT_TRUE(reply.has_message);
  const mcp_request seen = server.arrived("tools/call").at(0);
  EXPECT_TRUE(seen.has("Mcp-Method: tools/call"));
  EXPECT_TRUE(seen.has("Mcp-Name: =?base64?d2V0dGVyX23DvG5jaGVu?="));
  EXPECT_TRUE(seen.has("Mcp-Param-City: x"));
  EXPECT_TRUE(seen.has("Authorization: Bearer secret"));
  EXPECT_NE(seen.body.find(R"("name":"wetter_münchen")"), std::string::npos);
  EXPECT_NE(seen.body.find(R"("io.modelcontextprotocol/logLevel":"debug")"), std::string::npos);
  EXPECT_NE(seen.body.find(R"("sampling":{})"), std::string::npos);
}

TEST_F(modern_server, gets_the_answers_that_it_asked_for) {
  open();
  port::outgoing_request with;
  with.request_state = R"("opaque")";
  with.input_responses = R"({"k":{"action":"accept"}})";
  call(echo_call, with);
  const mcp_request seen = server.arrived("tools/call").at(0);
  EXPECT_NE(seen.body.find(R"("requestState":"opaque")"), std::string::npos);
  EXPECT_NE(seen.body.find(R"("inputResponses":{"k":{"action":"accept"}})"), std::string::npos);
}

TEST_F(modern_server, is_told_of_a_cancellation_by_the_end_of_the_connection_alone) {
  open();
  server.on("tools/call", [](const mcp_request&) { return stream_head; });
  begin_call(echo_call);
  until([&] { return server.streams() == 1 + server.arrived("subscriptions/listen").size() - 1; }, "it is under way");
  call_->interrupt.raise(async::interrupt::reason::cancelled);
  EXPECT_EQ(finish_call().fault, fault::cancelled);
  until([&] { return server.streams() == 0; }, "the connection is closed");
  settle(50ms);
  EXPECT_TRUE(server.arrived("notifications/cancelled").empty());
}

TEST_F(modern_server, tells_its_news_on_one_long_request) {
  server.on("subscriptions/listen", [](const mcp_request&) { return stream_head; });
  open(R"({"tools":{},"resources":{"subscribe":true}})");
  until([&] { return server.streams() == 1; }, "it is listened to");
  server.push(as_event(R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}})") +
              as_event(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})"));
  until([&] { return news.listings.size() == 2; }, "it is listed again");

  upstream->watch({"a:1"});
  until([&] { return server.arrived("subscriptions/listen").size() == 2; }, "with the watch");
  EXPECT_EQ(server.streams(), 2u) << "the old request stands until the new one does";
  server.push(as_event(R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}})"));
  until([&] { return server.streams() == 1; }, "the old request ends");
  EXPECT_NE(server.arrived("subscriptions/listen")[1].body.find(R"("resourceSubscriptions":["a:1"])"),
            std::string::npos);
  const std::string updated = R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:1"}})";
  EXPECT_EQ(news.notifications, std::vector<std::string>{updated}) << "nobody knows what changed before";
  server.push(as_event(updated));
  until([&] { return news.notifications.size() == 2; }, "the change is told");
  EXPECT_EQ(news.notifications[1], updated);
}

TEST_F(modern_server, is_listened_to_again_when_it_ends_the_request) {
  server.on("subscriptions/listen", [](const mcp_request& request) {
    return stream_head + as_event(R"({"jsonrpc":"2.0","id":)" + request.id + R"(,"result":{}})", "retry: 20\n");
  });
  open();
  until([&] { return server.arrived("subscriptions/listen").size() >= 2; }, "it is asked again");
}

TEST_F(modern_server, is_looked_at_again_when_it_answers_like_a_legacy_one) {
  open();
  be_legacy();
  server.on("tools/call", [](const mcp_request& request) {
    if (!request.has("Mcp-Session-Id: s-1")) return test::http_answer("400 Bad Request", "no session");
    return test::rpc_result(request, R"({"content":[]})");
  });
  const port::reply reply = call(echo_call, {.repeatable = true});
  EXPECT_EQ(reply.fault, fault::none);
  EXPECT_EQ(reply.era, protocol::era::legacy);
  EXPECT_EQ(upstream->era(), protocol::era::legacy);
}

TEST_F(modern_server, keeps_its_era_when_it_refuses_one_request) {
  open();
  server.on("tools/call", [](const mcp_request& request) {
    return test::rpc_error(request, -32021, "Missing capability", "400 Bad Request");
  });
  const port::reply reply = call(echo_call);
  EXPECT_EQ(reply.fault, fault::bad_status);
  EXPECT_TRUE(reply.has_message);
  EXPECT_EQ(server.arrived("tools/call").size(), 1u);
  EXPECT_EQ(server.arrived("server/discover").size(), 1u);
}

TEST_F(modern_server, that_would_rather_speak_a_legacy_revision_is_spoken_to_in_it) {
  be_legacy();
  server.on("server/discover", [](const mcp_request& request) {
    return test::rpc_error(request, -32022, "Unsupported", "400 Bad Request",
                           R"(,"data":{"supported":["2025-11-25"]})");
  });
  start();
  until([&] { return !news.states.empty(); }, "it is ready");
  EXPECT_EQ(upstream->era(), protocol::era::legacy);
  EXPECT_EQ(news.states[0].state, port::upstream_state::ready);
}

TEST_F(modern_server, is_no_legacy_one_because_it_is_down) {
  be_modern();
  server.on("server/discover", [calls = 0](const mcp_request& request) mutable {
    if (++calls == 1) return test::http_answer("503 Service Unavailable", "");
    return test::rpc_result(request, R"({"supportedVersions":["2026-07-28"],"capabilities":{}})");
  });
  start();
  until([&] { return upstream->era() == protocol::era::modern; }, "it is asked again");
}

}  // namespace
}  // namespace switchgear::upstream
