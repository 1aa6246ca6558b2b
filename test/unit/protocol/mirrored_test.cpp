#include "protocol/mirrored.hpp"

#include <gtest/gtest.h>

#include <string>

namespace switchgear::protocol {
namespace {

constexpr std::string_view good_meta =
    R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

std::string request(std::string_view method, std::string_view members, std::string_view meta = good_meta) {
  return std::string(R"({"jsonrpc":"2.0","id":7,"method":")")
      .append(method)
      .append(R"(","params":{)")
      .append(members)
      .append(R"("_meta":)")
      .append(meta)
      .append("}}");
}

// The error's code and text, or "" for a request that may be served.
std::string verdict(const std::string& text, const mirrored_headers* headers) {
  scratch space;
  const auto seen = peek(text, space);
  EXPECT_TRUE(seen) << text;
  return refuse_modern(text, *seen, headers);
}

bool refused_with(const std::string& verdict, std::string_view code) {
  return verdict.starts_with(std::string(R"({"jsonrpc":"2.0","id":7,"error":{"code":)").append(code).append(","));
}

const std::string call = request("tools/call", R"("name":"echo",)");
const mirrored_headers call_headers{.version = "2026-07-28", .method = "tools/call", .name = "echo"};

TEST(a_modern_request, is_served_when_its_headers_say_what_it_says) {
  EXPECT_EQ(verdict(call, &call_headers), "");
  EXPECT_EQ(verdict(call, nullptr), "");
  const mirrored_headers list{.version = "2026-07-28", .method = "tools/list"};
  EXPECT_EQ(verdict(request("tools/list", ""), &list), "");
  const mirrored_headers read{.version = "2026-07-28", .method = "resources/read", .name = "file:///a?b"};
  EXPECT_EQ(verdict(request("resources/read", R"("uri":"file:///a?b",)"), &read), "");
}

TEST(a_modern_request, is_refused_without_its_meta_before_anything_else) {
  const mirrored_headers none;
  for (
      std::string_view meta :
      {"{}", R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28"})",
       R"({"io.modelcontextprotocol/clientCapabilities":{}})",
       R"({"io.modelcontextprotocol/protocolVersion":7,"io.modelcontextprotocol/clientCapabilities":{}})",
       R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":[]})"}) {
    EXPECT_TRUE(refused_with(verdict(request("tools/list", "", meta), &none), "-32602")) << meta;
    EXPECT_TRUE(refused_with(verdict(request("tools/list", "", meta), nullptr), "-32602")) << meta;
  }
}

TEST(a_modern_request, is_refused_when_a_header_is_missing_or_differs) {
  const auto with = [](auto change) {
    mirrored_headers headers = call_headers;
    change(headers);
    return verdict(call, &headers);
  };
  EXPECT_TRUE(refused_with(with([](auto& h) { h.version = {}; }), "-32020"));
  EXPECT_TRUE(refused_with(with([](auto& h) { h.version = "2025-11-25"; }), "-32020"));
  EXPECT_TRUE(refused_with(with([](auto& h) { h.method = {}; }), "-32020"));
  EXPECT_TRUE(refused_with(with([](auto& h) { h.method = "TOOLS/CALL"; }), "-32020"));
  EXPECT_TRUE(refused_with(with([](auto& h) { h.name = {}; }), "-32020"));
  EXPECT_TRUE(refused_with(with([](auto& h) { h.name = "Echo"; }), "-32020"));
  EXPECT_TRUE(refused_with(with([](auto& h) { h.name = "\xc3\xa9"; }), "-32020"));
  EXPECT_TRUE(refused_with(with([](auto& h) { h.name = "=?base64?ZWNobw=?="; }), "-32020"));
}

TEST(a_modern_request, may_wrap_the_name_in_its_header) {
  mirrored_headers headers = call_headers;
  headers.name = "=?base64?ZWNobw==?=";
  EXPECT_EQ(verdict(call, &headers), "");
  const std::string accented = request("prompts/get", "\"name\":\"\xc3\xa9\",");
  headers = {.version = "2026-07-28", .method = "prompts/get", .name = "=?base64?w6k=?="};
  EXPECT_EQ(verdict(accented, &headers), "");
}

TEST(a_modern_request, names_nothing_in_its_header_that_its_body_does_not_name) {
  const std::string nameless = request("tools/call", "");
  EXPECT_TRUE(refused_with(verdict(nameless, &call_headers), "-32020"));
  mirrored_headers headers = call_headers;
  headers.name = {};
  EXPECT_EQ(verdict(nameless, &headers), "");  // the call itself will be refused
}

TEST(a_modern_request, is_told_of_a_wrong_header_before_a_wrong_revision) {
  const std::string text =
      request("server/discover", "",
              R"({"io.modelcontextprotocol/protocolVersion":"v9","io.modelcontextprotocol/clientCapabilities":{}})");
  mirrored_headers headers{.version = "2026-07-28", .method = "server/discover"};
  EXPECT_TRUE(refused_with(verdict(text, &headers), "-32020"));
  headers.version = "v9";
  EXPECT_TRUE(refused_with(verdict(text, &headers), "-32022"));
  EXPECT_TRUE(refused_with(verdict(text, nullptr), "-32022"));
}

}  // namespace
}  // namespace switchgear::protocol
