#include "http_fixture.hpp"

namespace switchgear::upstream {
namespace {

using namespace std::chrono_literals;
using port::fault;
using test::http_answer;
using test::mcp_request;

// What the server answers to the first call; RC-017.
struct lost {
  const char* name;
  std::string (*answer)(const mcp_request&);
  bool unread = false;  // nothing but a server that has not read the call says so
};

void PrintTo(const lost& one, std::ostream* out) {
  *out << one.name;
}

std::string null_id_error(std::string_view status, std::string_view message, std::string_view fields = {}) {
  return http_answer(
      status, R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":")" + std::string(message) + R"("}})",
      fields);
}

class forgetful_server : public http_upstream_test {
 protected:
  port::reply call_after(std::string (*answer)(const mcp_request&), bool repeatable = true) {
    be_legacy();
    server.on("initialize", [count = 0](const mcp_request& request) mutable {
      return test::rpc_result(request, R"({"protocolVersion":"2025-11-25","capabilities":{}})",
                              "Mcp-Session-Id: s-" + std::to_string(++count) + "\r\n");
    });
    server.on("tools/call", [answer](const mcp_request& request) {
      return request.has("Mcp-Session-Id: s-1") ? answer(request) : test::rpc_result(request, R"({"content":[]})");
    });
    start();
    until([&] { return !news.states.empty(); }, "it is ready");
    return call(echo_call, {.repeatable = repeatable});
  }
};

class loses_the_session : public forgetful_server, public testing::WithParamInterface<lost> {};

TEST_P(loses_the_session, and_nobody_notices) {
  const port::reply reply = call_after(GetParam().answer);
  EXPECT_EQ(reply.fault, fault::none);
  EXPECT_TRUE(reply.has_message && !reply.message.error);
  EXPECT_EQ(server.arrived("initialize").size(), 2u);
  EXPECT_EQ(server.arrived("tools/call").size(), 2u);
}

// A tool can say the same words after the deed.
TEST_P(loses_the_session, and_a_deed_is_sent_again_only_if_the_first_was_not_read) {
  const port::reply reply = call_after(GetParam().answer, false);
  if (GetParam().unread) {
    EXPECT_EQ(reply.fault, fault::none);
    EXPECT_EQ(server.arrived("tools/call").size(), 2u);
    return;
  }
  EXPECT_EQ(reply.fault, fault::session_lost);
  EXPECT_TRUE(reply.sent && !reply.has_message);
  EXPECT_EQ(server.arrived("tools/call").size(), 1u);
  EXPECT_EQ(call(echo_call).fault, fault::none);
  EXPECT_EQ(server.arrived("initialize").size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(
    forgetful_server, loses_the_session,
    testing::Values(
        lost{"404", [](const mcp_request&) { return http_answer("404 Not Found", ""); }, true},
        lost{"400 without the id",
             [](const mcp_request&) { return null_id_error("400 Bad Request", "Server not initialized"); }, true},
        lost{"400 that speaks of the session",
             [](const mcp_request& request) {
               return test::rpc_error(request, -32600, "No valid Session ID provided", "400 Bad Request");
             }},
        lost{"401 without a challenge",
             [](const mcp_request&) { return http_answer("401 Unauthorized", R"({"error":"session expired"})"); }},
        lost{"503 that speaks of the session",
             [](const mcp_request&) { return http_answer("503 Unavailable", R"({"error":"unknown session"})"); }},
        lost{"200 with an error about initialization",
             [](const mcp_request& request) { return test::rpc_error(request, -32002, "Server not initialized"); }}));

class keeps_the_session : public forgetful_server, public testing::WithParamInterface<lost> {};

TEST_P(keeps_the_session, and_the_failure_is_passed_on) {
  const port::reply reply = call_after(GetParam().answer);
  EXPECT_TRUE(reply.fault == fault::bad_status || (reply.has_message && reply.message.error));
  EXPECT_NE(reply.fault, fault::session_lost);
  EXPECT_EQ(server.arrived("initialize").size(), 1u);
  EXPECT_EQ(server.arrived("tools/call").size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(
    forgetful_server, keeps_the_session,
    testing::Values(lost{"503 that speaks of nothing",
                         [](const mcp_request&) { return http_answer("503 Unavailable", "down"); }},
                    lost{"401 with a challenge",
                         [](const mcp_request&) {
                           return http_answer("401 Unauthorized", "session expired", "WWW-Authenticate: Bearer\r\n");
                         }},
                    lost{"400 about the request",
                         [](const mcp_request& request) {
                           return test::rpc_error(request, -32602, "bad arguments", "400 Bad Request");
                         }},
                    lost{"an error about some other session", [](const mcp_request& request) {
                           return test::rpc_error(request, -32603, "the database says: session not found");
                         }}));

class redirecting_server : public http_upstream_test {
 protected:
  void redirect(std::string_view status, std::string location) {
    if (!upstream) {
      be_legacy();
      start();
      until([&] { return !news.states.empty(); }, "it is ready");
    }
    server.on("tools/call", [status = std::string(status), location](const mcp_request& request) {
      if (request.target == "/mcp/") return test::rpc_result(request, R"({"content":[]})");
      return http_answer(status, "", "Location: " + location + "\r\n");
    });
  }
};

TEST_F(redirecting_server, is_followed_once_within_its_origin_with_all_that_was_sent) {
  redirect("307 Temporary Redirect", "/mcp/");
  EXPECT_TRUE(call(echo_call).has_message);
  const auto calls = server.arrived("tools/call");
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[1].body, calls[0].body);
  EXPECT_TRUE(calls[1].has("Authorization: Bearer secret") && calls[1].has("Mcp-Session-Id: s-1"));

  server.on("tools/call", [this](const mcp_request& request) {
    if (request.target == "/mcp/?x") return test::rpc_result(request, R"({"content":[]})");
    return http_answer("308 Permanent Redirect", "", "Location: " + server.url("/mcp/?x#f") + "\r\n");
  });
  EXPECT_TRUE(call(echo_call).has_message);
}

TEST_F(redirecting_server, is_not_followed_in_circles) {
  redirect("308 Permanent Redirect", "/mcp");
  const port::reply reply = call(echo_call);
  EXPECT_EQ(reply.fault, fault::bad_status);
  EXPECT_EQ(reply.status, 308);
  EXPECT_EQ(server.arrived("tools/call").size(), 2u);
  EXPECT_NE(reply.detail.find("redirects to /mcp and from there to /mcp"), std::string::npos) << reply.detail;
}

TEST_F(redirecting_server, is_not_followed_where_the_call_would_become_another) {
  redirect("302 Found", "/mcp/");
  const port::reply reply = call(echo_call);
  EXPECT_EQ(reply.fault, fault::bad_status);
  EXPECT_NE(reply.detail.find("redirects to /mcp/, which is not followed"), std::string::npos) << reply.detail;
  EXPECT_EQ(server.arrived("tools/call").size(), 1u);
}

TEST_F(redirecting_server, is_not_followed_to_another_origin) {
  test::mcp_server other(on.io);
  for (const std::string& there : {other.url("/mcp"), std::string("//127.0.0.1:1/mcp"), std::string("https:/mcp"),
                                   std::string("http://localhost/mcp")}) {
    redirect("307 Temporary Redirect", there);
    const port::reply reply = call(echo_call);
    EXPECT_EQ(reply.fault, fault::bad_status) << there;
    EXPECT_NE(reply.detail.find("which is not followed"), std::string::npos) << reply.detail;
  }
  EXPECT_TRUE(other.requests().empty()) << "no credential leaves the origin";
  other.stop();
}

}  // namespace
}  // namespace switchgear::upstream
