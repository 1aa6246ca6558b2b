#include "http_fixture.hpp"

namespace switchgear::upstream {
namespace {

using namespace std::chrono_literals;
using port::fault;
using test::as_event;
using test::mcp_request;
using test::stream_end;
using test::stream_head;

class legacy_server : public http_upstream_test {
 protected:
  void open(std::string_view capabilities = R"({"tools":{}})", http_options options = {}) {
    be_legacy(capabilities);
    start(options);
    until([&] { return !news.states.empty(); }, "it is ready");
  }
  void open_with_stream(http_options options = {}) {
    server.on("GET", [](const mcp_request&) { return stream_head; });
    open(R"({"tools":{}})", options);
    until([&] { return server.streams() == 1; }, "the stream is open");
  }
};

TEST_F(legacy_server, is_probed_greeted_and_listed) {
  open(R"({"tools":{},"prompts":{}})");
  EXPECT_EQ(upstream->era(), protocol::era::legacy);
  EXPECT_EQ(upstream->status().server_name, "old");
  ASSERT_EQ(news.listings.size(), 1u);
  EXPECT_EQ(news.listings[0].tools, std::vector<std::string>{R"({"tools":[{"name":"echo"}]})"});
  EXPECT_EQ(news.listings[0].capabilities, R"({"tools":{},"prompts":{}})");
  EXPECT_EQ(server.arrived("prompts/list").size(), 1u);
  EXPECT_TRUE(server.arrived("server/discover")[0].has("MCP-Protocol-Version: 2026-07-28"));
  EXPECT_TRUE(server.arrived("server/discover")[0].has("Mcp-Method: server/discover"));
  EXPECT_TRUE(server.arrived("tools/list")[0].has("Mcp-Session-Id: s-1"));
  EXPECT_FALSE(server.arrived("initialize")[0].has("Mcp-Session-Id: s-1"));
}

TEST_F(legacy_server, is_not_listed_for_a_session_that_is_one_clients_own) {
  open(R"({"tools":{}})", {.role = {.abilities = {.roots = true}, .lists = false}});
  EXPECT_TRUE(server.arrived("tools/list").empty());
  EXPECT_NE(server.arrived("initialize")[0].body.find(R"("roots":{)"), std::string::npos);
  EXPECT_TRUE(call(echo_call).has_message);
}

TEST_F(legacy_server, gets_a_request_of_a_modern_client_without_what_is_modern_in_it) {
  open();
  port::outgoing_request with;
  with.client.era = protocol::era::modern;
  with.target = "their_name";
  const port::reply reply = call(
      R"({"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"x","_meta":{)"
      R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})",
      with);
  EXPECT_TRUE(reply.has_message);
  EXPECT_EQ(reply.era, protocol::era::legacy);
  const mcp_request seen = server.arrived("tools/call").at(0);
  EXPECT_NE(seen.body.find(R"("name":"their_name")"), std::string::npos);
  EXPECT_EQ(seen.body.find("io.modelcontextprotocol"), std::string::npos);
  EXPECT_EQ(seen.head.find("Mcp-Method"), std::string::npos);
}

TEST_F(legacy_server, is_left_in_peace_when_it_has_no_stream) {
  open();
  settle(400ms);
  EXPECT_EQ(server.arrived("GET").size(), 1u);
  EXPECT_TRUE(server.arrived("GET")[0].has("Accept: text/event-stream"));
  EXPECT_EQ(server.arrived("GET")[0].head.find("Content-Length"), std::string::npos);
}

TEST_F(legacy_server, is_listed_again_when_it_says_that_a_list_changed) {
  open_with_stream({.listing_gap = 100ms});
  const time_point begin = async::worker::now();
  for (int i = 0; i < 100; ++i) {
    server.push(as_event(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})"));
    settle(2ms);
  }
  until([&] { return news.listings.size() >= 2; }, "it is listed again");
  const auto passed = async::worker::now() - begin;
  EXPECT_LE(server.arrived("tools/list").size(), 2 + static_cast<std::size_t>(passed / 100ms)) << "and no oftener";
  EXPECT_TRUE(news.notifications.empty());
}

TEST_F(legacy_server, is_listed_again_when_a_call_brings_that_news) {
  open();
  server.on("tools/call", [](const mcp_request& request) {
    return stream_head + as_event(R"({"jsonrpc":"2.0","method":"notifications/prompts/list_changed"})") +
           as_event(R"({"jsonrpc":"2.0","id":)" + request.id + R"(,"result":{}})") + stream_end;
  });
  EXPECT_TRUE(call(echo_call, {}, &client).has_message);
  EXPECT_TRUE(client.order.empty()) << "the client is told by the gateway, when the list has come";
  until([&] { return news.listings.size() == 2; }, "it is listed again");
}

TEST_F(legacy_server, is_heard_and_answered_between_calls) {
  open_with_stream();
  const std::string updated = R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:1"}})";
  server.push(as_event(updated) + as_event(R"({"jsonrpc":"2.0","id":"p","method":"ping"})") +
              as_event(R"({"jsonrpc":"2.0","id":3,"method":"roots/list"})"));
  until([&] { return server.arrived("response").size() == 2; }, "both requests are answered");
  EXPECT_EQ(news.notifications, std::vector<std::string>{updated});
  EXPECT_EQ(news.questions.size(), 1u);
  EXPECT_EQ(server.arrived("response")[0].body, R"({"jsonrpc":"2.0","id":"p","result":{}})");
  EXPECT_EQ(server.arrived("response")[1].body, R"({"jsonrpc":"2.0","id":3,"result":{"answered":true}})");
  EXPECT_TRUE(server.arrived("response")[1].has("Mcp-Session-Id: s-1"));
}

TEST_F(legacy_server, is_heard_again_after_its_stream_was_cut) {
  open_with_stream();
  server.push(as_event(R"({"jsonrpc":"2.0","method":"notifications/x"})", "id: e-7\nretry: 20\n"));
  until([&] { return news.notifications.size() == 1; }, "it is heard");
  server.cut_streams();
  until([&] { return server.arrived("GET").size() == 2; }, "the stream is opened again");
  EXPECT_TRUE(server.arrived("GET")[1].has("Last-Event-ID: e-7"));
  until([&] { return news.listings.size() == 2; }, "what changed meanwhile is found");
}

TEST_F(legacy_server, gets_a_new_session_when_its_stream_says_that_the_old_one_is_gone) {
  open_with_stream();
  server.on("GET", [](const mcp_request& request) {
    return request.has("Mcp-Session-Id: s-1") ? test::http_answer("404 Not Found", "") : stream_head;
  });
  server.on("tools/list", [](const mcp_request& request) {
    if (request.has("Mcp-Session-Id: s-1")) return test::http_answer("404 Not Found", "");
    return test::rpc_result(request, R"({"tools":[]})");
  });
  server.on("initialize", [](const mcp_request& request) {
    return test::rpc_result(request, R"({"protocolVersion":"2025-06-18","capabilities":{}})",
                            "Mcp-Session-Id: s-2\r\n");
  });
  server.cut_streams();
  until([&] { return news.listings.size() == 2; }, "the new session is listed");
  EXPECT_EQ(news.listings[1].tools, std::vector<std::string>{R"({"tools":[]})"});
  EXPECT_EQ(server.arrived("initialize").size(), 2u);
  EXPECT_EQ(server.arrived("server/discover").size(), 1u) << "the verdict holds";
}

TEST_F(legacy_server, watches_what_is_wanted_and_again_in_a_new_session) {
  open(R"({"resources":{"subscribe":true}})");
  server.on("resources/subscribe", [](const mcp_request& request) { return test::rpc_result(request, "{}"); });
  server.on("resources/unsubscribe", [](const mcp_request& request) { return test::rpc_result(request, "{}"); });
  upstream->watch({"b:2", "a:1", "a:1"});
  until([&] { return news.notifications.size() == 2; }, "both are watched");
  EXPECT_NE(news.notifications[0].find(R"("uri":"a:1")"), std::string::npos) << "it may have changed unseen until now";
  upstream->watch({"a:1", "c:3"});
  until([&] { return server.arrived("resources/unsubscribe").size() == 1; }, "one is not any more");
  EXPECT_EQ(server.arrived("resources/subscribe").size(), 3u);
  EXPECT_NE(server.arrived("resources/unsubscribe")[0].body.find("b:2"), std::string::npos);

  server.on("tools/call", [calls = 0](const mcp_request& request) mutable {
    return ++calls == 1 ? test::http_answer("404 Not Found", "") : test::rpc_result(request, "{}");
  });
  EXPECT_TRUE(call(echo_call).has_message);
  until([&] { return server.arrived("resources/subscribe").size() == 5; }, "they are watched again");
  until([&] { return news.notifications.size() == 5; }, "they may have changed in between");
}

TEST_F(legacy_server, is_not_asked_to_watch_when_it_cannot) {
  open(R"({"resources":{}})");
  upstream->watch({"a:1"});
  settle(50ms);
  EXPECT_TRUE(server.arrived("resources/subscribe").empty());
}

TEST_F(legacy_server, is_asked_for_its_era_again_when_the_verdict_is_old) {
  open(R"({"tools":{}})", {.legacy_verdict = 50ms});
  be_modern();
  settle(60ms);
  upstream->watch({});  // any turn of the control worker will do
  until([&] { return upstream->era() == protocol::era::modern; }, "the new era is found");
  until([&] { return server.arrived("DELETE").size() == 1; }, "the old session is ended");
  const port::reply reply = call(echo_call);
  EXPECT_EQ(reply.era, protocol::era::modern);
  EXPECT_TRUE(reply.has_message);
}

TEST_F(legacy_server, that_has_become_a_modern_one_is_found_out_when_it_refuses_to_be_greeted) {
  open();
  be_modern();
  server.on("tools/call", [](const mcp_request& request) {
    if (request.has("Mcp-Session-Id: s-1")) return test::http_answer("404 Not Found", "");
    return test::rpc_result(request, R"({"content":[]})");
  });
  call(echo_call);
  until([&] { return upstream->era() == protocol::era::modern; }, "the verdict does not stand against the facts");
}

}  // namespace
}  // namespace switchgear::upstream
