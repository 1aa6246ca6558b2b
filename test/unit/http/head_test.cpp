#include "http/head.hpp"

#include "http/errc.hpp"

#include <gtest/gtest.h>

#include <string>

namespace switchgear::http {
namespace {

std::string request(std::string_view fields) {
  return "POST /mcp HTTP/1.1\r\nHost: localhost\r\n" + std::string(fields) + "\r\n";
}

errc refusal_of(std::string_view fields) {
  const auto head = read_request_head(request(fields));
  return head ? errc{} : static_cast<errc>(head.error().value());
}

TEST(request_head, gives_what_the_gateway_looks_at) {
  const std::string text = request(
      "Accept: application/json, text/event-stream\r\nContent-Type: application/json; charset=utf-8\r\n"
      "mcp-session-id: abc\r\nMCP-Protocol-Version: 2025-06-18\r\nContent-Length: 12\r\nOrigin: http://localhost\r\n");
  const auto head = read_request_head(text);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->method, "POST");
  EXPECT_EQ(head->target, "/mcp");
  EXPECT_EQ(head->host, "localhost");
  EXPECT_EQ(head->origin, "http://localhost");
  EXPECT_EQ(head->session_id, "abc");
  EXPECT_EQ(head->protocol_version, "2025-06-18");
  EXPECT_EQ(head->framing.content_length, 12u);
  EXPECT_TRUE(head->framing.keep_alive);
  EXPECT_TRUE(head->accepts_json);
  EXPECT_TRUE(head->accepts_sse);
}

TEST(request_head, joins_what_several_accept_lines_cover) {
  const auto head = read_request_head(request("Accept: application/json\r\nAccept: text/event-stream\r\n"));
  ASSERT_TRUE(head);
  EXPECT_TRUE(head->accepts_json);
  EXPECT_TRUE(head->accepts_sse);
}

TEST(request_head, refuses_what_two_readers_could_frame_differently) {
  EXPECT_EQ(refusal_of("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), errc::bad_framing);
  EXPECT_EQ(refusal_of("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), errc::bad_framing);
  EXPECT_EQ(refusal_of("Content-Length: 5\r\nContent-Length: 6\r\n"), errc::bad_framing);
  EXPECT_EQ(refusal_of("Content-Length: +5\r\n"), errc::bad_framing);
  EXPECT_EQ(refusal_of("Content-Length: 5, 5\r\n"), errc::bad_framing);
  EXPECT_EQ(refusal_of("Transfer-Encoding: gzip, chunked\r\n"), errc::bad_framing);
  EXPECT_EQ(refusal_of("Transfer-Encoding: identity\r\n"), errc::bad_framing);
  EXPECT_EQ(refusal_of("Transfer-Encoding: xchunked\r\n"), errc::bad_framing);
  EXPECT_EQ(refusal_of("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), errc::bad_framing);
}

TEST(request_head, refuses_malformed_fields) {
  EXPECT_EQ(refusal_of("X : 1\r\n"), errc::malformed_head);
  EXPECT_EQ(refusal_of("X: 1\r\n folded\r\n"), errc::malformed_head);
  EXPECT_EQ(refusal_of("X: a\rb\r\n"), errc::malformed_head);
  EXPECT_EQ(refusal_of(std::string("X: a\0b\r\n", 8)), errc::malformed_head);
  EXPECT_EQ(refusal_of("no colon\r\n"), errc::malformed_head);
  EXPECT_EQ(refusal_of(": nameless\r\n"), errc::malformed_head);
}

TEST(request_head, refuses_a_single_field_that_stands_twice) {
  EXPECT_EQ(refusal_of("Host: other\r\n"), errc::duplicate_field);
  EXPECT_EQ(refusal_of("Mcp-Session-Id: a\r\nMcp-Session-Id: a\r\n"), errc::duplicate_field);
  EXPECT_EQ(refusal_of("Content-Type: text/html\r\nContent-Type: application/json\r\n"), errc::duplicate_field);
}

TEST(request_head, knows_whether_the_connection_goes_on) {
  EXPECT_FALSE(read_request_head(request("Connection: close\r\n"))->framing.keep_alive);
  EXPECT_FALSE(read_request_head(request("Connection: keep-alive, close\r\n"))->framing.keep_alive);
  EXPECT_FALSE(read_request_head("GET / HTTP/1.0\r\n\r\n")->framing.keep_alive);
  EXPECT_TRUE(read_request_head("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")->framing.keep_alive);
}

TEST(request_head, refuses_other_versions) {
  EXPECT_EQ(read_request_head("GET / HTTP/2.0\r\n\r\n").error(), errc::unsupported_version);
  EXPECT_EQ(read_request_head("GET / HTTP/1.7\r\n\r\n").error(), errc::unsupported_version);
  EXPECT_FALSE(read_request_head("PRI * HTTP/2.0\r\n\r\n"));
  EXPECT_FALSE(read_request_head("GET /\r\n\r\n"));
}

TEST(response_head, gives_status_framing_and_session) {
  const std::string text =
      "HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/html\r\nRetry-After: 7\r\nMcp-Session-Id: s\r\n"
      "Transfer-Encoding: chunked\r\n\r\n";
  const auto head = read_response_head(text);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 429);
  EXPECT_EQ(head->content_type, "text/html");
  EXPECT_EQ(head->retry_after, "7");
  EXPECT_EQ(head->session_id, "s");
  EXPECT_TRUE(head->framing.chunked);
}

TEST(response_head, refuses_a_status_below_100) {
  EXPECT_EQ(read_response_head("HTTP/1.1 020 OK\r\n\r\n").error(), errc::malformed_head);
  EXPECT_EQ(read_response_head("HTTP/1.1 099 OK\r\n\r\n").error(), errc::malformed_head);
}

TEST(head_end, is_found_across_pieces) {
  const std::string text = request("X: 1\r\n");
  std::size_t searched = 0;
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto end = find_head_end(std::string_view(text).substr(0, size), searched);
    ASSERT_TRUE(end);
    EXPECT_EQ(*end, 0u);
  }
  EXPECT_EQ(*find_head_end(text + "body", searched), text.size());
}

TEST(head_end, refuses_a_bare_line_feed_at_once) {
  std::size_t searched = 0;
  EXPECT_EQ(find_head_end("POST /mcp HTTP/1.1\nHost: x\n", searched).error(), errc::malformed_head);
}

TEST(head_end, refuses_a_folded_field_even_if_its_first_line_is_empty) {
  for (const char* text :
       {"GET / HTTP/1.1\r\nX: 1\r\n 2\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length:\r\n\t44\r\n\r\n"}) {
    std::size_t searched = 0;
    EXPECT_EQ(find_head_end(text, searched).error(), errc::malformed_head);
    searched = 0;
    result<std::size_t> end = std::size_t{0};
    for (std::size_t size = 1; end && size <= std::string_view(text).size(); ++size) {
      end = find_head_end(std::string_view(text).substr(0, size), searched);
    }
    EXPECT_EQ(end.error(), errc::malformed_head) << "in pieces";
  }
}

TEST(head_end, refuses_a_head_that_never_ends) {
  std::size_t searched = 0;
  const std::string text = "GET / HTTP/1.1\r\nX: " + std::string(most_head_bytes, 'a');
  EXPECT_EQ(find_head_end(text, searched).error(), errc::head_too_large);
}

}  // namespace
}  // namespace switchgear::http
