#include "http_fixture.hpp"

namespace switchgear::upstream {
namespace {

using namespace std::chrono_literals;
using port::fault;
using test::as_event;
using test::mcp_request;
using test::stream_end;
using test::stream_head;

const std::string ask_roots = R"({"jsonrpc":"2.0","id":"r-1","method":"roots/list"})";

class asking_server : public http_upstream_test {
 protected:
  asking_server() {
    be_legacy();
    start();
    until([&] { return !news.states.empty(); }, "it is ready");
    server.on("tools/call", [this](const mcp_request& request) {
      called_ = request.id;
      return stream_head + before_;
    });
  }
  std::string result() const { return as_event(R"({"jsonrpc":"2.0","id":)" + called_ + R"(,"result":{}})"); }

  std::string before_, called_;
};

TEST_F(asking_server, gets_the_clients_answer_while_the_call_goes_on) {
  before_ = as_event(R"({"jsonrpc":"2.0","method":"notifications/message","params":{}})") + as_event(ask_roots) +
            as_event(R"({"jsonrpc":"2.0","method":"notifications/x"})");
  begin_call(echo_call, {}, &client);
  until([&] { return server.arrived("response").size() == 1; }, "the answer is posted");
  const mcp_request answer = server.arrived("response").at(0);
  EXPECT_EQ(answer.body, R"({"jsonrpc":"2.0","id":"r-1","result":{"roots":[]}})");
  EXPECT_TRUE(answer.has("Mcp-Session-Id: s-1"));
  server.push(result() + stream_end);
  EXPECT_TRUE(finish_call().has_message);
  EXPECT_EQ(client.order, (std::vector<std::string>{"notifications/message", "roots/list", "notifications/x"}));
}

TEST_F(asking_server, may_ask_for_several_things_at_once) {
  for (int i = 0; i < 40; ++i) {
    before_ += as_event(R"({"jsonrpc":"2.0","id":)" + std::to_string(i) + R"(,"method":"roots/list"})");
  }
  client.waits = true;
  begin_call(echo_call, {}, &client);
  until([&] { return server.arrived("response").size() == 8; }, "those beyond the limit are refused");
  EXPECT_EQ(client.order.size(), asked_requests::most_open);
  EXPECT_NE(server.arrived("response")[0].body.find("-31003"), std::string::npos);
  server.push(result() + stream_end);
  EXPECT_TRUE(finish_call().has_message);
  EXPECT_EQ(client.given_up, asked_requests::most_open) << "none outlives the call";
  settle(50ms);
  EXPECT_EQ(server.arrived("response").size(), 8u) << "nobody waits for those answers any more";
}

TEST_F(asking_server, may_take_a_request_back) {
  before_ = as_event(ask_roots);
  client.waits = true;
  begin_call(echo_call, {}, &client);
  until([&] { return client.order.size() == 1; }, "the client is asked");
  server.push(as_event(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"other"}})"));
  server.push(as_event(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"r-1"}})"));
  until([&] { return client.given_up == 1; }, "the client need not answer");
  server.push(result() + stream_end);
  EXPECT_TRUE(finish_call().has_message);
  EXPECT_TRUE(server.arrived("response").empty());
}

TEST_F(asking_server, is_answered_by_the_gateway_when_it_pings) {
  before_ = as_event(R"({"jsonrpc":"2.0","id":"p","method":"ping"})");
  begin_call(echo_call, {}, &client);
  until([&] { return server.arrived("response").size() == 1; }, "the ping is answered");
  EXPECT_EQ(server.arrived("response")[0].body, R"({"jsonrpc":"2.0","id":"p","result":{}})");
  EXPECT_TRUE(client.order.empty());
  server.push(result() + stream_end);
  finish_call();
}

TEST_F(asking_server, is_refused_when_no_client_is_there) {
  before_ = as_event(ask_roots);
  begin_call(echo_call);
  until([&] { return server.arrived("response").size() == 1; }, "it is told so");
  EXPECT_NE(server.arrived("response")[0].body.find("-32601"), std::string::npos);
  server.push(result() + stream_end);
  EXPECT_TRUE(finish_call().has_message);
}

TEST_F(asking_server, does_not_keep_a_cancelled_call_waiting_for_the_client) {
  before_ = as_event(ask_roots);
  client.waits = true;
  begin_call(echo_call, {}, &client);
  until([&] { return client.order.size() == 1; }, "the client is asked");
  call_->interrupt.raise(async::interrupt::reason::cancelled);
  EXPECT_EQ(finish_call().fault, fault::cancelled);
  EXPECT_EQ(client.given_up, 1u);
  until([&] { return server.arrived("notifications/cancelled").size() == 1; }, "the server is told");
}

class resuming_server : public asking_server {
 protected:
  resuming_server() { before_ = in_chunk("id: e-1\nretry: 10\ndata:\n\n") + stream_end; }
  static std::string in_chunk(std::string_view text) { return test::in_chunk(text); }
};

TEST_F(resuming_server, is_asked_for_the_rest_of_a_stream) {
  server.on("GET", [this](const mcp_request&) { return stream_head + result() + stream_end; });
  EXPECT_TRUE(call(echo_call).has_message);
  const mcp_request rest = server.arrived("GET").back();
  EXPECT_TRUE(rest.has("Last-Event-ID: e-1"));
  EXPECT_TRUE(rest.has("Mcp-Session-Id: s-1"));
  EXPECT_EQ(server.arrived("tools/call").size(), 1u) << "the call itself is never sent twice";
}

TEST_F(resuming_server, may_end_the_stream_again_and_again) {
  server.on("GET", [this, parts = 0](const mcp_request&) mutable {
    if (++parts == 3) return stream_head + result() + stream_end;
    return stream_head +
           as_event(R"({"jsonrpc":"2.0","method":"notifications/x"})", "id: e-" + std::to_string(parts + 1) + "\n") +
           stream_end;
  });
  EXPECT_TRUE(call(echo_call, {}, &client).has_message);
  EXPECT_EQ(client.order.size(), 2u);
  EXPECT_TRUE(server.arrived("GET").back().has("Last-Event-ID: e-3"));
}

TEST_F(resuming_server, that_does_not_know_the_rest_has_lost_the_call) {
  const port::reply reply = call(echo_call);
  EXPECT_EQ(reply.fault, fault::bad_message);
  EXPECT_EQ(reply.detail,
            "HTTP 200 text/event-stream: the stream ended without the response; asked for its rest: HTTP 405 "
            "application/json");
}

TEST_F(resuming_server, has_until_the_deadline) {
  server.on("GET", [](const mcp_request&) { return stream_head; });
  begin_call(echo_call);
  until([&] { return server.streams() == 1; }, "the rest is asked for");
  call_->interrupt.raise(async::interrupt::reason::deadline);
  EXPECT_EQ(finish_call().fault, fault::deadline_after_head);
}

TEST_F(asking_server, that_names_no_events_has_lost_a_stream_that_ends) {
  before_ = as_event(R"({"jsonrpc":"2.0","method":"notifications/x"})") + stream_end;
  const std::size_t before = server.arrived("GET").size();
  EXPECT_EQ(call(echo_call).fault, fault::bad_message);
  EXPECT_EQ(server.arrived("GET").size(), before);
}

}  // namespace
}  // namespace switchgear::upstream
