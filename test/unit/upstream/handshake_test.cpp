#include "upstream/handshake.hpp"

#include "base/version.hpp"
#include "support/peeked.hpp"

#include <gtest/gtest.h>

namespace switchgear::upstream {
namespace {

using protocol::era;

const std::string meta = R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                         R"("io.modelcontextprotocol/clientInfo":{"name":"switchgear","version":")" +
                         std::string(version) + R"("},"io.modelcontextprotocol/clientCapabilities":{}})";

std::optional<era> shown(std::string_view text) {
  const test::peeked response(text);
  return era_shown(response.seen, response.text());
}

std::optional<era> shown_by_error(std::string_view error) {
  return shown(R"({"jsonrpc":"2.0","id":1,"error":)" + std::string(error) + "}");
}

TEST(handshake, offers_the_newest_legacy_revision_and_what_the_client_allows) {
  EXPECT_EQ(initialize_request(7),
            R"({"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
            R"("capabilities":{},"clientInfo":{"name":"switchgear","version":")" +
                std::string(version) + R"("}}})");
  EXPECT_NE(initialize_request(7, {.roots = true}).find(R"("capabilities":{"roots":{)"), std::string::npos);
}

TEST(handshake, writes_requests_of_both_eras) {
  EXPECT_EQ(plain_request(1, era::legacy, "ping"), R"({"jsonrpc":"2.0","id":1,"method":"ping"})");
  EXPECT_EQ(plain_request(2, era::modern, "tools/list", R"("cursor":"x")"),
            R"({"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"x",)" + meta + "}}");
  EXPECT_EQ(discover_request(3), R"({"jsonrpc":"2.0","id":3,"method":"server/discover","params":{)" + meta + "}}");
  EXPECT_EQ(watch_request(4, "a\"b", false),
            R"({"jsonrpc":"2.0","id":4,"method":"resources/unsubscribe","params":{"uri":"a\"b"}})");
  EXPECT_EQ(listen_request(5, {"a:1", "b:2"}),
            R"({"jsonrpc":"2.0","id":5,"method":"subscriptions/listen","params":{"notifications":{)"
            R"("toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,)"
            R"("resourceSubscriptions":["a:1","b:2"]},)" +
                meta + "}}");
}

TEST(handshake, reads_what_a_legacy_server_says_of_itself) {
  server_hello hello;
  std::string why;
  ASSERT_TRUE(
      read_hello(R"({"protocolVersion":"2025-06-18","serverInfo":{"name":"a\nb","version":"1"},)"
                 R"("capabilities":{"prompts":{},"resources":{"subscribe":true},"x":1.0},"instructions":"Do \"x\""})",
                 hello, why));
  EXPECT_EQ(hello.protocol_version, "2025-06-18");
  EXPECT_EQ(hello.server_name, "a?b");
  EXPECT_EQ(hello.capabilities, R"({"prompts":{},"resources":{"subscribe":true},"x":1.0})");
  EXPECT_EQ(hello.instructions, "Do \"x\"");
  EXPECT_TRUE(hello.abilities.prompts && hello.abilities.resources && hello.abilities.subscribe);
}

TEST(handshake, takes_a_server_that_says_little) {
  server_hello hello;
  std::string why;
  ASSERT_TRUE(read_hello(R"({"protocolVersion":"2024-11-05","capabilities":[],"instructions":3})", hello, why));
  EXPECT_EQ(hello.capabilities, "{}");
  EXPECT_FALSE(hello.abilities.prompts || hello.abilities.resources || hello.abilities.subscribe);
}

TEST(handshake, refuses_a_revision_that_we_do_not_speak) {
  server_hello hello;
  std::string why;
  EXPECT_FALSE(read_hello(R"({"protocolVersion":"1999-01-01"})", hello, why));
  EXPECT_EQ(why, "it speaks MCP revision 1999-01-01, and we speak up to 2025-11-25");
  EXPECT_FALSE(read_hello(R"({"protocolVersion":3})", hello, why));
  EXPECT_FALSE(read_hello("[]", hello, why));
  EXPECT_EQ(why, "its answer to initialize has no protocolVersion");
}

TEST(handshake, reads_what_a_modern_server_says_of_itself) {
  server_hello hello;
  std::string why;
  ASSERT_TRUE(read_discovery(R"({"supportedVersions":["2025-11-25","2026-07-28"],"capabilities":{"resources":{}},)"
                             R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m"}}})",
                             hello, why));
  EXPECT_EQ(hello.protocol_version, "2026-07-28");
  EXPECT_EQ(hello.server_name, "m");
  EXPECT_TRUE(hello.abilities.resources);
  EXPECT_FALSE(hello.abilities.prompts || hello.abilities.subscribe);
  EXPECT_FALSE(read_discovery(R"({"supportedVersions":["2027-01-01"]})", hello, why));
}

TEST(era_shown, is_modern_by_a_discovery_that_names_the_revision) {
  EXPECT_EQ(shown(R"({"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"]}})"), era::modern);
  EXPECT_EQ(shown(R"({"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2027-01-01"]}})"), era::legacy);
  EXPECT_EQ(shown(R"({"jsonrpc":"2.0","id":1,"result":{}})"), era::legacy);
}

TEST(era_shown, follows_the_revisions_that_an_error_names) {
  EXPECT_EQ(shown_by_error(R"({"code":-32022,"message":"","data":{"supported":["2026-07-28"]}})"), era::modern);
  EXPECT_EQ(shown_by_error(R"({"code":-32022,"message":"","data":{"supported":["2025-11-25"]}})"), era::legacy);
}

TEST(era_shown, is_legacy_by_an_error_that_only_a_legacy_server_gives) {
  EXPECT_EQ(shown_by_error(R"({"code":-32601,"message":"Method not found"})"), era::legacy);
  EXPECT_EQ(shown_by_error(R"({"code":-32000,"message":"Bad Request: Server not initialized"})"), era::legacy);
}

TEST(era_shown, is_nothing_by_an_error_that_either_may_give) {
  for (const std::string_view code : {"-32001", "-32020", "-32021"}) {
    EXPECT_EQ(shown_by_error(R"({"code":)" + std::string(code) + R"(,"message":""})"), std::nullopt) << code;
  }
}

}  // namespace
}  // namespace switchgear::upstream
