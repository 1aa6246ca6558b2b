// Whose credential goes with which request.
#include "http_fixture.hpp"

#include <boost/asio/co_spawn.hpp>

namespace switchgear::upstream {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view first = "authorization: Bearer first\r\n", second = "authorization: Bearer second\r\n";

class a_credential : public http_upstream_test {
 protected:
  /// The session of a principal that came with `first`.
  void start_own(bool news = false) {
    forward = {"authorization"};
    http_options options;
    options.role = {.lists = false, .news = news, .credential = std::string(first)};
    start(options);
  }
  void start_common() {
    forward = {"authorization"};
    start();
    until([&] { return !news.listings.empty(); }, "it lists");
  }
  port::reply call_with(std::string_view credential) { return call(echo_call, {.credential = credential}); }

  /// From now on initialize is answered so for this token.
  void deny(std::string token, std::string status = "401 Unauthorized") {
    server.on("initialize", [token, status](const test::mcp_request& request) {
      if (request.has("authorization: Bearer " + token)) return test::http_answer(status, R"({"error":"no"})");
      return test::rpc_result(request, R"({"protocolVersion":"2025-11-25","capabilities":{}})",
                              "Mcp-Session-Id: s-1\r\n");
    });
  }

  static std::size_t count(std::string_view head, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = head.find(part); at != head.npos; at = head.find(part, at + 1)) ++found;
    return found;
  }
};

TEST_F(a_credential, of_a_principal_goes_with_all_that_its_session_says) {
  be_legacy();
  start_own();
  EXPECT_EQ(call_with(first).fault, port::fault::none);
  for (const test::mcp_request& each : server.requests()) {
    EXPECT_TRUE(each.has("authorization: Bearer first")) << each.method;
    EXPECT_EQ(count(each.head, "uthorization: "), 1u) << each.head;
  }
  EXPECT_EQ(server.arrived("initialize").size(), 1u);
  EXPECT_EQ(server.arrived("notifications/initialized").size(), 1u);
  EXPECT_TRUE(server.arrived("GET").empty()) << "nobody would hear it";
}

TEST_F(a_credential, is_the_latest_calls) {
  be_legacy();
  start_own();
  call_with(first);
  call_with(second);
  EXPECT_TRUE(server.arrived("tools/call").at(1).has("authorization: Bearer second"));
  EXPECT_EQ(server.arrived("initialize").size(), 1u) << "one session";
  bool stopped = false;
  boost::asio::co_spawn(on.io, upstream->stop(), [&](std::exception_ptr) { stopped = true; });
  until([&] { return stopped; }, "it stops");
  EXPECT_TRUE(server.arrived("DELETE").at(0).has("authorization: Bearer second"));
}

TEST_F(a_credential, goes_with_the_stream_of_a_client_that_can_be_asked) {
  be_legacy();
  server.on("GET", [](const test::mcp_request& request) {
    return request.has("authorization: Bearer first") ? test::http_answer("401 Unauthorized", "") : test::stream_head;
  });
  start_own(true);
  until([&] { return server.arrived("GET").size() == 1; }, "it asks for its stream");
  settle(400ms);
  EXPECT_EQ(server.arrived("GET").size(), 1u) << "a refused credential is not tried again";
}

TEST_F(a_credential, goes_with_the_rest_of_an_answer) {
  be_legacy();
  server.on("tools/call", [](const test::mcp_request&) {
    return test::stream_head + test::in_chunk("id: e-1\nretry: 10\ndata:\n\n") + test::stream_end;
  });
  server.on("GET", [this](const test::mcp_request&) {
    return test::stream_head +
           test::as_event(R"({"jsonrpc":"2.0","id":)" + server.arrived("tools/call").back().id + R"(,"result":{}})") +
           test::stream_end;
  });
  start_own();
  EXPECT_TRUE(call_with(second).has_message);
  EXPECT_TRUE(server.arrived("GET").at(0).has("authorization: Bearer second"));
}

TEST_F(a_credential, goes_with_what_is_told_of_a_call) {
  be_legacy();
  server.on("tools/call", [](const test::mcp_request&) { return test::stream_head; });
  start_own();
  begin_call(echo_call, {.credential = second});
  until([&] { return !server.arrived("tools/call").empty(); }, "it is sent");
  call_->interrupt.raise(async::interrupt::reason::cancelled);
  finish_call();
  until([&] { return !server.arrived("notifications/cancelled").empty(); }, "the server is told");
  EXPECT_TRUE(server.arrived("notifications/cancelled").at(0).has("authorization: Bearer second"));
}

TEST_F(a_credential, that_was_refused_a_session_is_an_answer_and_not_tried_again_by_itself) {
  be_legacy();
  deny("first", "403 Forbidden");
  start_own();
  const port::reply refused = call_with(first);
  EXPECT_EQ(refused.fault, port::fault::bad_status);
  EXPECT_EQ(refused.status, 403);
  EXPECT_FALSE(refused.sent);
  settle(300ms);
  EXPECT_EQ(server.arrived("initialize").size(), 1u);
  EXPECT_EQ(call_with(first).status, 403);
  EXPECT_EQ(server.arrived("initialize").size(), 1u) << "what was just found out";
}

TEST_F(a_credential, that_follows_a_refused_one_is_tried_at_once) {
  be_legacy();
  deny("first");
  start_own();
  EXPECT_EQ(call_with(first).status, 401);
  const time_point began = async::worker::now();
  EXPECT_EQ(call_with(second).fault, port::fault::none);
  EXPECT_LT(async::worker::now() - began, 800ms);
  EXPECT_EQ(server.arrived("initialize").size(), 2u);
  EXPECT_TRUE(server.arrived("tools/call").at(0).has("authorization: Bearer second"));
}

TEST_F(a_credential, that_was_refused_may_be_good_a_second_later) {
  be_legacy();
  deny("first");
  start_own();
  EXPECT_EQ(call_with(first).status, 401);
  deny("nobody's");
  settle(1100ms);
  EXPECT_EQ(call_with(first).fault, port::fault::none);
}

TEST_F(a_credential, of_a_caller_is_never_the_operators_with_a_modern_server) {
  be_modern();
  start_common();
  EXPECT_TRUE(server.arrived("server/discover").at(0).has("Authorization: Bearer secret"));
  EXPECT_TRUE(server.arrived("tools/list").at(0).has("Authorization: Bearer secret"));
  call_with(first);
  call_with({});
  EXPECT_TRUE(server.arrived("tools/call").at(0).has("authorization: Bearer first"));
  for (const test::mcp_request& each : server.arrived("tools/call")) EXPECT_EQ(count(each.head, "secret"), 0u);
}

TEST_F(a_credential, of_a_caller_does_not_go_into_the_operators_session) {
  be_legacy();
  start_common();
  const port::reply refused = call_with(first);
  EXPECT_EQ(refused.fault, port::fault::not_ready);
  EXPECT_FALSE(refused.sent);
  EXPECT_TRUE(server.arrived("tools/call").empty());
}

TEST_F(a_credential, of_the_operator_that_is_refused_a_session_is_an_answer_too) {
  be_legacy();
  server.on("initialize", [](const test::mcp_request&) { return test::http_answer("401 Unauthorized", "no"); });
  start();
  const port::reply refused = call(echo_call);
  EXPECT_EQ(refused.fault, port::fault::bad_status);
  EXPECT_EQ(refused.status, 401);
  EXPECT_EQ(upstream->status().denied, 401);
  EXPECT_TRUE(upstream->status().reason.starts_with("credential rejected: ")) << upstream->status().reason;
  be_legacy();
  until([&] { return upstream->status().state == port::upstream_state::ready; }, "it is tried again");
  EXPECT_EQ(upstream->status().denied, 0);
}

TEST_F(a_credential, of_the_operator_that_gets_no_list_is_rejected) {
  be_legacy();
  server.on("tools/list", [](const test::mcp_request&) { return test::http_answer("403 Forbidden", "no"); });
  start();
  until([&] { return upstream->status().denied == 403; }, "it says so");
}

}  // namespace
}  // namespace switchgear::upstream
