#include "upstream/http_exchange.hpp"

#include "support/scripted_server.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace switchgear::upstream {
namespace {

using namespace std::chrono_literals;
using port::fault;

constexpr std::string_view response = R"({"jsonrpc":"2.0","id":7,"result":{"content":[]}})";

std::string json(std::string_view body, std::string_view status = "200 OK", std::string_view fields = {}) {
  return "HTTP/1.1 " + std::string(status) + "\r\nContent-Type: application/json\r\n" + std::string(fields) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

std::string chunk(std::string_view payload) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", payload.size());
  return size + std::string(payload) + "\r\n";
}

const std::string event_head =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
const std::string answer_event = "event: message\ndata: " + std::string(response) + "\n\n";

struct kept_notifications final : port::client_side {
  std::vector<std::string> texts;
  void take(std::string_view text, const protocol::message&) override { texts.emplace_back(text); }
  boost::asio::awaitable<void> flush() override { co_return; }
  boost::asio::awaitable<std::string> ask(std::string_view, const protocol::message&, async::interrupt&) override {
    co_return std::string();
  }
};

class exchange : public testing::Test {
 protected:
  exchange() : on(0), server(on.io), pool(on, 8) {
    endpoint.address = read_url(server.url()).value();
    endpoint.connect_timeout = 2s;
    endpoint.max_answer = 1024 * 1024;
  }

  http_reply ask(duration limit = 5s, std::string_view id = "7") {
    http_reply out;
    bool done = false;
    boost::asio::co_spawn(on.io, one(limit, id, out), [&](std::exception_ptr thrown) {
      EXPECT_FALSE(thrown);
      done = true;
    });
    on.io.restart();
    while (!done && on.io.run_one() != 0) {
    }
    return out;
  }

  // Lets what still runs in the background (the end of a body) have its turn.
  void settle() {
    const time_point until = async::worker::now() + 50ms;
    while (async::worker::now() < until) on.io.run_one_for(5ms);
  }

  boost::asio::awaitable<void> one(duration limit, std::string_view id, http_reply& out) {
    async::interrupt interrupt(on.timers);
    interrupt.arm(async::worker::now() + limit);
    http_request request{"POST /mcp HTTP/1.1\r\nHost: x\r\n", {}, {"{}"}, id, rest_head};
    http_exchange run(on, endpoint, pool, interrupt, &notifications);
    co_await run.run(request, out);
  }

  async::worker on;
  test::scripted_server server;
  http_endpoint endpoint;
  connection_pool pool;
  kept_notifications notifications;
  std::string rest_head;
};

TEST_F(exchange, takes_json_with_a_length) {
  server.then(json(response));
  const http_reply got = ask();
  EXPECT_EQ(got.reply.fault, fault::none);
  EXPECT_TRUE(got.reply.has_message);
  EXPECT_EQ(got.reply.message.result.in(got.reply.body.view()), R"({"content":[]})");
  EXPECT_EQ(server.requests().at(0), "POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}");
}

TEST_F(exchange, takes_json_in_chunks_and_json_until_the_end) {
  server.then("HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n" +
              chunk(response.substr(0, 10)) + chunk(response.substr(10)) + "0\r\n\r\n");
  EXPECT_TRUE(ask().reply.has_message);
  server.then_do({{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + std::string(response)}, true});
  EXPECT_TRUE(ask().reply.has_message);
}

TEST_F(exchange, takes_a_megabyte_whole) {
  const std::string body = R"({"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":")" +
                           std::string(900'000, 'x') + R"("}]}})";
  server.then(json(body));
  const http_reply got = ask();
  EXPECT_TRUE(got.reply.has_message);
  EXPECT_EQ(got.reply.body.view(), body);
}

TEST_F(exchange, uses_the_connection_again) {
  server.then(json(response));
  server.then(event_head + chunk(answer_event) + "0\r\n\r\n");
  server.then("HTTP/1.1 100 Continue\r\n\r\n" + json(response));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(ask().reply.has_message) << i;
  EXPECT_EQ(server.connections(), 1u);
}

TEST_F(exchange, keeps_a_connection_whose_event_stream_ends_after_the_answer) {
  server.then_do({{event_head + chunk(answer_event), "0\r\n\r\n"}});
  server.then(json(response));
  EXPECT_TRUE(ask().reply.has_message);
  settle();
  EXPECT_TRUE(ask().reply.has_message);
  EXPECT_EQ(server.connections(), 1u);
}

TEST_F(exchange, opens_a_new_connection_when_the_kept_one_was_closed) {
  server.then_do({{json(response)}, true});
  server.then(json(response));
  EXPECT_TRUE(ask().reply.has_message);
  settle();
  EXPECT_TRUE(ask().reply.has_message);
  EXPECT_EQ(server.connections(), 2u);
}

TEST_F(exchange, relays_notifications_before_the_answer_and_skips_what_is_no_message) {
  const std::string progress =
      R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}})";
  server.then(event_head + chunk(": comment\n\nid: 1\ndata:\n\nevent: ping\ndata: now\n\n") +
              chunk("data: " + progress + "\r\n\r\n") + chunk(answer_event) + "0\r\n\r\n");
  EXPECT_TRUE(ask().reply.has_message);
  EXPECT_EQ(notifications.texts, std::vector<std::string>{progress});
}

TEST_F(exchange, says_which_wrong_page_came) {
  server.then("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 11\r\n\r\n<html>login");
  http_reply got = ask();
  EXPECT_EQ(got.reply.fault, fault::bad_media_type);
  EXPECT_EQ(got.reply.detail, "HTTP 200 text/html: <html>login");

  server.then(json(R"({"ok":true})"));
  EXPECT_EQ(ask().reply.fault, fault::bad_message);
  server.then(json(""));
  EXPECT_EQ(ask().reply.fault, fault::bad_message);
  server.then(json(R"({"jsonrpc":"2.0","id":8,"result":{}})"));
  got = ask();
  EXPECT_EQ(got.reply.fault, fault::bad_message);
  EXPECT_EQ(got.reply.detail, "HTTP 200 application/json: a response to id 8, which nobody sent");
  server.then(event_head + chunk("<html>") + "0\r\n\r\n");
  EXPECT_EQ(ask().reply.fault, fault::bad_message);
}

TEST_F(exchange, keeps_the_status_and_what_it_says_about_waiting) {
  server.then(json("{}", "429 Too Many Requests", "Retry-After: 7\r\n"));
  const http_reply got = ask();
  EXPECT_EQ(got.reply.fault, fault::bad_status);
  EXPECT_EQ(got.reply.status, 429);
  EXPECT_EQ(got.reply.retry_after, duration(7s));
  for (const char* wrong : {"-5", "abc", "", "1.5"}) {
    server.then(json("{}", "429 Too Many Requests", "Retry-After: " + std::string(wrong) + "\r\n"));
    EXPECT_EQ(ask().reply.retry_after, std::nullopt) << wrong;
  }
  server.then(json("{}", "503 Busy", "Retry-After: 999999999\r\n"));
  EXPECT_EQ(ask().reply.retry_after, duration(24h));
}

TEST_F(exchange, counts_a_date_from_the_servers_own_clock) {
  const std::string until = "Retry-After: Sun, 06 Nov 1994 08:49:44 GMT\r\n";
  server.then(json("{}", "429 Too Many Requests", until + "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"));
  EXPECT_EQ(ask().reply.retry_after, duration(7s));
  for (const std::string date : {"", "Date: yesterday\r\n"}) {
    server.then(json("{}", "429 Too Many Requests", until + date));
    EXPECT_EQ(ask().reply.retry_after, duration(0s)) << "by our clock it has passed";
  }
}

TEST_F(exchange, gives_a_json_rpc_error_under_a_failing_status) {
  server.then(json(R"({"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"no"}})", "400 Bad Request"));
  const http_reply got = ask();
  EXPECT_EQ(got.reply.status, 400);
  EXPECT_TRUE(got.reply.has_message);
  EXPECT_EQ(got.reply.message.error_code, -32602);
}

TEST_F(exchange, does_not_follow_a_redirect) {
  server.then("HTTP/1.1 307 Temporary Redirect\r\nLocation: http://elsewhere/mcp\r\nContent-Length: 0\r\n\r\n");
  const http_reply got = ask();
  EXPECT_EQ(got.reply.fault, fault::bad_status);
  EXPECT_NE(got.reply.detail.find("redirects to http://elsewhere/mcp, which is not followed"), std::string::npos);
}

TEST_F(exchange, tells_silence_from_an_answer_that_stopped_half_way) {
  server.then_do({{}, false});
  http_reply got = ask(60ms);
  EXPECT_EQ(got.reply.fault, fault::deadline);
  EXPECT_TRUE(got.reply.sent);
  EXPECT_FALSE(got.reply.head_seen);

  server.then("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{\"jsonrpc\"");
  got = ask(60ms);
  EXPECT_EQ(got.reply.fault, fault::deadline_after_head);

  server.then(event_head + chunk(": still here\n\n"));
  EXPECT_EQ(ask(60ms).reply.fault, fault::deadline_after_head);
}

TEST_F(exchange, tells_a_lost_answer_from_a_connection_that_never_was) {
  server.then_do({{}, true});
  http_reply got = ask();
  EXPECT_EQ(got.reply.fault, fault::lost);
  EXPECT_TRUE(got.reply.sent);

  server.stop();
  got = ask();
  EXPECT_EQ(got.reply.fault, fault::connect_failed);
  EXPECT_FALSE(got.reply.sent);
}

TEST_F(exchange, stops_at_the_limit_of_an_answer) {
  endpoint.max_answer = 100;
  server.then(json(std::string(101, ' ')));
  EXPECT_EQ(ask().reply.fault, fault::too_large);
  server.then("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" +
              chunk(std::string(60, ' ')) + chunk(std::string(60, ' ')) + "0\r\n\r\n");
  EXPECT_EQ(ask().reply.fault, fault::too_large);
  server.then(event_head + chunk("data: " + std::string(200, 'x') + "\n\n"));
  EXPECT_EQ(ask().reply.fault, fault::too_large);
}

TEST_F(exchange, refuses_bytes_that_are_no_http) {
  server.then_do({{"nonsense\r\n\r\n"}, true});
  EXPECT_EQ(ask().reply.fault, fault::bad_message);
  server.then_do({{"HTTP/1.1 200 OK\nContent-Length: 0\n\n"}, true});
  EXPECT_EQ(ask().reply.fault, fault::bad_message);
  server.then_do(
      {{"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}, true});
  EXPECT_EQ(ask().reply.fault, fault::bad_message);
}

TEST_F(exchange, takes_any_success_as_the_answer_to_a_notification) {
  for (const char* answer : {"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 204 No Content\r\n\r\n",
                             "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\nAccepted",
                             "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\nnull"}) {
    server.then(answer);
    EXPECT_EQ(ask(5s, {}).reply.fault, fault::none) << answer;
  }
  server.then("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(ask().reply.fault, fault::bad_message) << "a call is no notification";
  server.then("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n");
  EXPECT_EQ(ask(5s, {}).reply.fault, fault::bad_status);
  EXPECT_EQ(server.connections(), 1u);
}

TEST_F(exchange, refuses_to_open_more_connections_than_allowed) {
  connection_pool none(on, 0);
  http_reply out;
  async::interrupt interrupt(on.timers);
  http_exchange run(on, endpoint, none, interrupt, nullptr);
  http_request request{"POST / HTTP/1.1\r\n", {}, {"{}"}, "7", {}};
  boost::asio::co_spawn(on.io, run.run(request, out), [](std::exception_ptr) {});
  on.io.restart();
  on.io.poll();
  EXPECT_EQ(out.reply.fault, fault::overloaded);
}

}  // namespace
}  // namespace switchgear::upstream
