#include "replica.hpp"
#include "support/fake_fleet.hpp"
#include "wire.hpp"

#include <gtest/gtest.h>

#include <string>

namespace switchgear::listen {
namespace {

constexpr std::string_view event_end = "\n\n\r\n";

class a_modern_client : public testing::Test {
 protected:
  std::string post(std::string_view method, std::string_view members = {}) {
    return wire(here.port()).exchange("POST", modern_headers(method), modern(method, members));
  }
  std::string call(std::string_view tool) {
    headers fields = modern_headers("tools/call");
    fields["Mcp-Name"] = tool;
    return wire(here.port())
        .exchange("POST", fields, modern("tools/call", R"("name":")" + std::string(tool) + R"(",)"));
  }

  replica here;
};

TEST_F(a_modern_client, needs_no_session_and_gets_none) {
  headers fields = modern_headers("server/discover");
  fields["Mcp-Session-Id"] = "of some other era";
  const std::string answer = wire(here.port()).exchange("POST", fields, modern("server/discover"));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer;
  EXPECT_TRUE(has(answer, R"("supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26"])"));
  EXPECT_FALSE(has(answer, "Mcp-Session-Id"));
}

TEST_F(a_modern_client, gets_404_for_methods_of_the_other_era_and_of_none) {
  for (const char* method : {"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe",
                             "unknown/method", "prompts/list", "prompts/get"}) {
    const std::string answer = post(method);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 404 ")) << method << answer;
    EXPECT_TRUE(has(answer, R"("id":1,"error":{"code":-32601)")) << method << answer;
  }
}

TEST_F(a_modern_client, gets_the_status_that_its_answer_wants) {
  const std::string answer = call("fail");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(has(answer, "-32021"));
}

TEST_F(a_modern_client, is_told_in_the_head_when_to_come_again) {
  EXPECT_TRUE(has(call("later"), "\r\nRetry-After: 7\r\n"));
  EXPECT_FALSE(has(call("fail"), "Retry-After"));
}

TEST_F(a_modern_client, is_refused_with_400_when_its_header_differs) {
  headers fields = modern_headers("tools/list");
  fields["Mcp-Method"] = "prompts/list";
  const std::string answer = wire(here.port()).exchange("POST", fields, modern("tools/list"));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(has(answer, R"("id":1,"error":{"code":-32020)"));
}

TEST_F(a_modern_client, takes_its_call_back_by_closing_the_connection) {
  wire calling(here.port());
  headers fields = modern_headers("tools/call");
  fields["Mcp-Name"] = "wait";
  calling.send("POST", fields, modern("tools/call", R"("name":"wait",)"));
  ASSERT_TRUE(soon([&] { return here.handler.waiting == 1; }));
  calling.close();
  EXPECT_TRUE(soon([&] { return here.handler.waiting == 0; }));
  EXPECT_EQ(here.handler.interrupted, static_cast<int>(async::interrupt::reason::cancelled));
}

TEST_F(a_modern_client, is_told_what_it_listens_for_under_its_requests_id) {
  auto offer = std::make_shared<port::offer>();
  offer->has = {true, true, true, false};
  offer->subscribes = true;
  here.clients().use(offer);
  wire stream(here.port());
  stream.send("POST", modern_headers("subscriptions/listen"),
              modern("subscriptions/listen",
                     R"("notifications":{"promptsListChanged":true,"resourceSubscriptions":["a:b"]},)", "\"sub\""));
  const std::string first = stream.until(event_end);
  EXPECT_TRUE(has(first, R"("notifications":{"promptsListChanged":true,"resourceSubscriptions":["a:b"]}}})")) << first;
  EXPECT_TRUE(soon([&] { return here.watched() == std::vector<std::string>{"a:b"}; }));

  auto changed = std::make_shared<port::offer>(*offer);
  changed->modern[0] = changed->modern[1] = "changed";
  here.clients().use(changed);
  EXPECT_TRUE(has(stream.until(event_end), R"("method":"notifications/prompts/list_changed","params":)"
                                           R"({"_meta":{"io.modelcontextprotocol/subscriptionId":"sub"}}})"));
  here.clients().resource_updated("a:c");
  here.clients().resource_updated("a:b");
  EXPECT_TRUE(has(stream.until(event_end), R"("uri":"a:b"}})"));
  stream.close();
  EXPECT_TRUE(soon([&] { return here.watched().empty(); }));
}

TEST_F(a_modern_client, is_not_promised_what_is_not_offered) {
  wire stream(here.port());
  stream.send("POST", modern_headers("subscriptions/listen"),
              modern("subscriptions/listen", R"("notifications":{"toolsListChanged":true,"promptsListChanged":true,)"
                                             R"("resourceSubscriptions":["a:b"]},)"));
  EXPECT_TRUE(has(stream.until(event_end), R"("notifications":{"toolsListChanged":true}}})"));
}

TEST_F(a_modern_client, may_not_get_or_delete_anything) {
  for (const char* verb : {"GET", "DELETE"}) {
    headers fields = modern_headers("");
    fields["Mcp-Session-Id"] = initialize(here.port());
    EXPECT_TRUE(wire(here.port()).exchange(verb, fields).starts_with("HTTP/1.1 405 ")) << verb;
  }
}

TEST(a_legacy_client, does_not_take_its_call_back_by_closing_the_connection) {
  replica here;
  const std::string session = initialize(here.port());
  {
    wire calling(here.port());
    calling.send("POST", {{"Mcp-Session-Id", session}}, call("wait", "9"));
    ASSERT_TRUE(soon([&] { return here.handler.waiting == 1; }));
  }
  wire other(here.port());
  EXPECT_TRUE(has(other.exchange("POST", {{"Mcp-Session-Id", session}}, call("echo")), "\"result\""));
  EXPECT_EQ(here.handler.waiting, 1);
  const std::string_view cancel = R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}})";
  EXPECT_TRUE(other.exchange("POST", {{"Mcp-Session-Id", session}}, cancel).starts_with("HTTP/1.1 202 "));
  EXPECT_TRUE(soon([&] { return here.handler.waiting == 0; }));
}

class a_batch : public testing::Test {
 protected:
  std::string post(std::string_view body, headers more = {}) {
    more.emplace("Mcp-Session-Id", session);
    return wire(here.port()).exchange("POST", more, body);
  }

  replica here;
  std::string session = initialize(here.port(), "{}", "2025-03-26");
};

TEST_F(a_batch, is_answered_as_one_array_in_the_order_of_its_requests) {
  const std::string answer = post("[" + call("echo", "1") + R"(,{"jsonrpc":"2.0","method":"notifications/x"},)" +
                                  R"({"jsonrpc":"2.0","id":"p","method":"ping"}, 7])");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer;
  EXPECT_TRUE(has(answer, R"([{"jsonrpc":"2.0","id":1,"result":)")) << answer;
  EXPECT_TRUE(has(answer, R"(,{"jsonrpc":"2.0","id":"p","result":{}},{"jsonrpc":"2.0","id":null,"error":)")) << answer;
}

TEST_F(a_batch, is_answered_as_events_when_something_comes_before) {
  wire asking(here.port());
  asking.send("POST", {{"Mcp-Session-Id", session}}, "[" + call("progress", "1") + "," + call("echo", "2") + "]");
  const std::string events = asking.until("0\r\n\r\n");
  EXPECT_TRUE(has(events, "notifications/progress")) << events;
  EXPECT_TRUE(has(events, R"("id":1,"result")") && has(events, R"("id":2,"result")")) << events;
}

TEST_F(a_batch, of_notifications_alone_is_accepted) {
  EXPECT_TRUE(post(R"([{"jsonrpc":"2.0","method":"notifications/x"}])").starts_with("HTTP/1.1 202 "));
}

TEST_F(a_batch, is_refused_when_empty_or_of_a_client_of_another_revision) {
  EXPECT_TRUE(post("[]").starts_with("HTTP/1.1 400 "));
  session = initialize(here.port(), "{}", "2025-06-18");
  const std::string answer = post("[" + call("echo") + "]");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(has(answer, "-32600"));
}

TEST_F(a_batch, begins_no_session) {
  const std::string answer = post(
      R"([{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{}}}])");
  EXPECT_TRUE(has(answer, R"("id":1,"error":{"code":-32600)")) << answer;
}

}  // namespace
}  // namespace switchgear::listen
