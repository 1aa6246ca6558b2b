#include "listen/principal.hpp"

#include "replica.hpp"
#include "wire.hpp"

#include <gtest/gtest.h>

#include <string>

namespace switchgear::listen {
namespace {

std::string head_of(std::string_view fields) {
  return "POST /mcp HTTP/1.1\r\nHost: h\r\n" + std::string(fields) + "\r\n";
}

struct found {
  std::string who;
  int status = 0;
};

found identified(std::string_view fields, const port::listen_settings& settings) {
  found made;
  made.status = identify(head_of(fields), settings, made.who).status;
  return made;
}

const port::listen_settings named{.principal = "x-user"};
const port::listen_settings with_tokens{.credentials = {"authorization", "x-key"}};
const port::listen_settings both{.principal = "x-user", .credentials = {"authorization"}};

TEST(a_principal, is_what_the_header_says) {
  EXPECT_EQ(identified("X-User:  ann@example \r\n", named).who, "ann@example");
  EXPECT_EQ(identified("X-User: ann\r\nAuthorization: Bearer 1\r\n", both).who, "ann");
}

TEST(a_principal, is_anonymous_without_the_header_or_with_an_empty_one) {
  EXPECT_EQ(identified("", named).who, "");
  EXPECT_EQ(identified("X-User:\r\nAuthorization: Bearer 1\r\n", named).who, "");
  EXPECT_EQ(identified("", both).who, "");
}

TEST(a_principal, is_nobody_where_no_header_is_looked_at) {
  EXPECT_EQ(identified("X-User: ann\r\nX-User: bob\r\nAuthorization: Bearer 1\r\n", {}).who, "");
}

TEST(a_principal, without_a_name_is_a_digest_of_all_credentials) {
  const std::string one = identified("Authorization: Bearer 1\r\n", with_tokens).who;
  EXPECT_EQ(one.size(), 33u);
  EXPECT_EQ(one, identified("authorization: Bearer 1\r\nX-Other: a\r\n", with_tokens).who);
  EXPECT_NE(one, identified("Authorization: Bearer 2\r\n", with_tokens).who);
  EXPECT_NE(one, identified("X-Key: Bearer 1\r\n", with_tokens).who);
  EXPECT_NE(one, identified("Authorization: Bearer 1\r\nX-Key: k\r\n", with_tokens).who);
  EXPECT_EQ(one.find("Bearer"), std::string::npos);
}

TEST(a_principal, that_a_header_names_is_never_one_of_a_credential) {
  const std::string digest = identified("Authorization: Bearer 1\r\n", both).who;
  EXPECT_EQ(digest.size(), 33u);
  EXPECT_NE(identified("X-User: " + digest + "\r\n", both).who, digest);
}

TEST(a_principal, is_refused_where_it_could_be_two) {
  EXPECT_EQ(identified("X-User: ann\r\nX-User: ann\r\n", named).status, 400);
  EXPECT_EQ(identified("X-User: ann\r\nAuthorization: a\r\nAuthorization: b\r\n", both).status, 400);
  EXPECT_EQ(identified("Authorization: a\r\nAuthorization: b\r\n", named).status, 0);
}

TEST(a_principal, has_a_name_that_can_be_printed_and_is_not_too_long) {
  EXPECT_EQ(identified("X-User: " + std::string(256, 'u') + "\r\n", named).status, 0);
  EXPECT_EQ(identified("X-User: " + std::string(257, 'u') + "\r\n", named).status, 400);
  EXPECT_EQ(identified("X-User: a\tb\r\n", named).status, 400);
  EXPECT_EQ(identified("X-User: \xe9\r\n", named).status, 400);
  EXPECT_EQ(identified("Authorization: a\x01\r\n", with_tokens).status, 400);
}

TEST(a_session, is_served_to_its_principal_alone) {
  replica here(named);
  const std::string opened =
      wire(here.port())
          .exchange(
              "POST", {{"X-User", "ann"}},
              R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}})");
  const std::size_t at = opened.find("Mcp-Session-Id: ") + 16;
  const std::string session = opened.substr(at, opened.find('\r', at) - at);

  const auto send = [&](std::string_view verb, const std::string& who) {
    headers fields{{"Mcp-Session-Id", session}};
    if (!who.empty()) fields["X-User"] = who;
    return wire(here.port()).exchange(verb, fields, verb == "POST" ? call("any") : std::string());
  };
  EXPECT_TRUE(has(send("POST", "ann"), "200 OK"));
  for (const char* verb : {"POST", "GET", "DELETE"}) {
    EXPECT_TRUE(has(send(verb, "bob"), "404 Not Found")) << verb;
    EXPECT_TRUE(has(send(verb, ""), "404 Not Found")) << verb;
  }
  EXPECT_TRUE(has(send("DELETE", "ann"), "204 No Content"));
}

TEST(a_session, is_not_opened_for_two_principals_at_once) {
  replica here(named);
  wire connection(here.port());
  connection.send("POST", {{"X-User", "ann\r\nX-User: bob"}}, call("any"));
  const std::string refused = connection.response();
  EXPECT_TRUE(has(refused, "400 Bad Request")) << refused;
  EXPECT_TRUE(has(refused, "who calls stands there twice")) << refused;
}

}  // namespace
}  // namespace switchgear::listen
