// Plain HTTP endpoints, as http steps ask them.
#include "upstream/web_client.hpp"

#include "support/scripted_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

namespace switchgear::upstream {
namespace {

using namespace std::chrono_literals;
using port::fault;

class the_web_client : public testing::Test {
 protected:
  ~the_web_client() override {
    server.stop();
    on.io.abandon();
  }

  port::web_reply fetch(port::web_request request, duration limit = 4s, std::size_t most = 1000) {
    if (!web) web.emplace(std::vector<async::worker*>{&on}, most);
    async::interrupt interrupt(on.timers);
    interrupt.arm(async::worker::now() + limit);
    std::optional<port::web_reply> got;
    boost::asio::co_spawn(on.io, web->origin(origin).fetch(on, request, interrupt),
                          [&](std::exception_ptr thrown, port::web_reply reply) {
                            EXPECT_FALSE(thrown);
                            got = std::move(reply);
                          });
    const time_point end = async::worker::now() + 5s;
    while (!got && async::worker::now() < end) {
      on.io.restart();
      on.io.run_one_for(20ms);
    }
    EXPECT_TRUE(got);
    return got ? std::move(*got) : port::web_reply{};
  }

  static std::string page(std::string_view body, std::string_view type = "application/json",
                          std::string_view status = "200 OK", std::string_view more = "") {
    return "HTTP/1.1 " + std::string(status) + "\r\nContent-Type: " + std::string(type) +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + std::string(more) + "\r\n" +
           std::string(body);
  }

  async::worker on{0};
  test::scripted_server server{on.io};
  const std::string origin = server.url().substr(0, server.url().rfind('/'));
  std::optional<web_client> web;
};

constexpr port::web_request getting{.method = "GET", .target = "/a?b=c", .fields = "X-A: b\r\n", .body = ""};

TEST_F(the_web_client, sends_a_request_and_keeps_the_connection) {
  server.then(page(R"({"a":1})"));
  server.then(page("words", "text/plain; charset=utf-8"));

  const port::web_reply first = fetch(getting);
  const port::web_reply second = fetch({.method = "POST", .target = "/x", .fields = "", .body = R"({"q":1})"});

  EXPECT_EQ(first.reply.fault, fault::none);
  EXPECT_EQ(first.reply.body.view(), R"({"a":1})");
  EXPECT_EQ(first.media_type, "application/json");
  EXPECT_TRUE(first.reply.sent);
  EXPECT_EQ(second.media_type, "text/plain; charset=utf-8");
  ASSERT_EQ(server.requests().size(), 2U);
  EXPECT_EQ(server.connections(), 1U);
  const std::string& get = server.requests()[0];
  EXPECT_TRUE(get.starts_with("GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:")) << get;
  EXPECT_NE(get.find("\r\nX-A: b\r\n"), std::string::npos);
  EXPECT_EQ(get.find("Content-"), std::string::npos) << get;
  const std::string& post = server.requests()[1];
  EXPECT_NE(post.find("\r\nContent-Type: application/json\r\n"), std::string::npos) << post;
  EXPECT_TRUE(post.ends_with("Content-Length: 7\r\n\r\n{\"q\":1}")) << post;
}

TEST_F(the_web_client, says_what_a_failure_was) {
  server.then(page("no such thing", "text/plain", "404 Not Found"));
  server.then(page("", "text/plain", "429 Slow Down", "Retry-After: 7\r\n"));

  const port::web_reply first = fetch(getting);
  const port::web_reply second = fetch(getting);

  EXPECT_EQ(first.reply.fault, fault::bad_status);
  EXPECT_EQ(first.reply.status, 404);
  EXPECT_EQ(first.reply.detail, "HTTP 404 text/plain: no such thing");
  EXPECT_EQ(second.reply.retry_after, 7s);
  EXPECT_EQ(server.connections(), 1U);
}

// A host that the operator did not name must not get the request, whoever asks for it.
TEST_F(the_web_client, follows_no_redirect) {
  server.then(page("", "text/plain", "307 Elsewhere", "Location: /b\r\n"));

  const port::web_reply got = fetch(getting);

  EXPECT_EQ(got.reply.fault, fault::bad_status);
  EXPECT_EQ(got.reply.status, 307);
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST_F(the_web_client, takes_no_more_than_the_limit) {
  server.then(page(std::string(1001, 'x'), "text/plain"));
  server.then("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" +
              std::string(1001, 'x') + "\r\n0\r\n\r\n");

  EXPECT_EQ(fetch(getting).reply.fault, fault::too_large);
  EXPECT_EQ(fetch(getting).reply.fault, fault::too_large);
}

TEST_F(the_web_client, ends_with_the_deadline) {
  server.then_do({{""}});
  server.then_do({{"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nhalf"}});

  EXPECT_EQ(fetch(getting, 50ms).reply.fault, fault::deadline);
  EXPECT_EQ(fetch(getting, 50ms).reply.fault, fault::deadline_after_head);
}

TEST_F(the_web_client, tells_a_lost_answer_from_one_that_was_none) {
  server.then_do({{"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"}, true});
  server.then_do({{""}, true});
  server.then("SSH-2.0-OpenSSH_9.2\r\n\r\n");

  EXPECT_EQ(fetch(getting).reply.fault, fault::lost);
  EXPECT_EQ(fetch(getting).reply.fault, fault::lost);
  EXPECT_EQ(fetch(getting).reply.fault, fault::bad_message);
}

TEST_F(the_web_client, says_when_nobody_is_there) {
  server.stop();

  const port::web_reply got = fetch(getting);

  EXPECT_EQ(got.reply.fault, fault::connect_failed);
  EXPECT_FALSE(got.reply.sent);
}

}  // namespace
}  // namespace switchgear::upstream
