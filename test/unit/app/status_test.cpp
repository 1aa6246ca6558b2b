#include "app/status.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include <sstream>
#include <thread>

namespace switchgear::app {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::string_view circuits = R"({"circuits":[
  {"name":"search__query","kind":"tool","state":"open","mode":"enforce","calls":120,"error_rate":0.345,"p99_ms":1830.4,"since_ms":81250,"retry_after_ms":21000},
  {"name":"server:search","kind":"server","state":"closed","mode":"observe","calls":0,"error_rate":0,"p99_ms":0,"since_ms":7200000,"retry_after_ms":0}],
  "upstreams":[{"alias":"search","state":"degraded","reason":"refused\u001b[31m","server":"","tools":3}]})";

TEST(the_status_table, shows_upstreams_and_breakers_in_columns) {
  const auto table = status_table(circuits, R"({"ready":true,"reason":""})");
  ASSERT_TRUE(table);
  EXPECT_EQ(*table,
            "ready\n"
            "\n"
            "UPSTREAM  STATE     TOOLS  SERVER  REASON\n"
            "search    degraded  3      -       refused [31m\n"
            "\n"
            "BREAKER        KIND    STATE             ERRORS  P99      CALLS  SINCE  RETRY IN\n"
            "search__query  tool    open              34.5 %  1830 ms  120    81 s   21 s\n"
            "server:search  server  closed (observe)  -       -        0      2 h    -\n");
}

TEST(the_status_table, says_why_the_gateway_is_not_ready) {
  EXPECT_EQ(
      status_table(R"({"circuits":[],"upstreams":[]})", R"({"ready":false,"reason":"no upstream was tried yet"})"),
      "not ready: no upstream was tried yet\n");
}

TEST(the_status_table, is_nothing_for_what_is_no_gateways_answer) {
  for (const char* text : {"", "<html>", "[]", "{}", R"({"circuits":5,"upstreams":[]})"}) {
    EXPECT_FALSE(status_table(text, R"({"ready":true})")) << text;
    EXPECT_FALSE(status_table(R"({"circuits":[],"upstreams":[]})", text)) << text;
  }
  EXPECT_TRUE(status_table(R"({"circuits":[5,{}],"upstreams":[null]})", R"({"ready":true})"));
}

/// Answers each connection with the next text, on a thread of its own; an empty text leaves the client waiting.
class fake_admin {
 public:
  explicit fake_admin(std::vector<std::string> answers)
      : acceptor_(context_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
        thread_([this, all = std::move(answers)] { serve(all); }) {}
  ~fake_admin() { thread_.join(); }
  fake_admin(const fake_admin&) = delete;
  fake_admin& operator=(const fake_admin&) = delete;
  std::string address() const { return "127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }

 private:
  void serve(const std::vector<std::string>& answers) {
    for (const std::string& answer : answers) {
      boost::system::error_code error;
      tcp::socket client = acceptor_.accept();
      std::string head;
      asio::read_until(client, asio::dynamic_buffer(head), "\r\n\r\n", error);
      asio::write(client, asio::buffer(answer), error);
      if (!answer.empty()) continue;
      char byte = 0;
      client.read_some(asio::buffer(&byte, 1), error);  // until the client gives up
    }
  }

  asio::io_context context_;
  tcp::acceptor acceptor_;
  std::thread thread_;
};

std::string http(const std::string& status, std::string_view body) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

struct told {
  int code;
  std::string out;
  std::string problems;
};

told ask(const std::string& admin, duration limit = std::chrono::seconds(5)) {
  std::ostringstream out, problems;
  const int code = status(admin, out, problems, limit);
  return {code, out.str(), problems.str()};
}

TEST(status, prints_the_table_of_a_running_gateway) {
  const fake_admin gateway(
      {http("200 OK", circuits), http("503 Service Unavailable", R"({"ready":false,"reason":"starting"})")});
  const told made = ask(gateway.address());
  EXPECT_EQ(made.code, 0) << made.problems;
  EXPECT_TRUE(made.out.starts_with("not ready: starting\n"));
  EXPECT_EQ(made.problems, "");
}

TEST(status, says_in_one_line_that_no_gateway_runs) {
  std::string free_port;
  {
    asio::io_context context;
    const tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    free_port = "127.0.0.1:" + std::to_string(acceptor.local_endpoint().port());
  }
  const told made = ask(free_port);
  EXPECT_EQ(made.code, 1);
  EXPECT_EQ(made.problems, "switchgear status: no gateway listens on " + free_port +
                               "; is it running, and is that its admin address?\n");
}

TEST(status, gives_up_when_nothing_comes) {
  const fake_admin silent({""});
  const told made = ask(silent.address(), std::chrono::milliseconds(50));
  EXPECT_EQ(made.code, 1);
  EXPECT_EQ(made.problems, "switchgear status: the gateway at " + silent.address() + " did not answer within 50ms\n");
}

TEST(status, says_that_something_else_listens_there) {
  const fake_admin no_http({"SSH-2.0-x\r\n"});
  EXPECT_NE(ask(no_http.address()).problems.find("does not answer as a gateway does"), std::string::npos);

  const fake_admin no_json({http("200 OK", "<html>"), http("200 OK", "<html>")});
  EXPECT_NE(ask(no_json.address()).problems.find("does not answer as a gateway does"), std::string::npos);

  const fake_admin another({http("404 Not Found", "{}"), http("404 Not Found", "{}")});
  EXPECT_NE(ask(another.address()).problems.find("HTTP status 404"), std::string::npos);
}

}  // namespace
}  // namespace switchgear::app
