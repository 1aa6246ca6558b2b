#include "upstream/listing_reader.hpp"

#include "support/peeked.hpp"

#include <gtest/gtest.h>

namespace switchgear::upstream {
namespace {

using protocol::era;

class listing_reading : public testing::Test {
 protected:
  void begin(server_hello hello, era of = era::legacy) {
    hello.capabilities = R"({"x":1})";
    hello.instructions = "read me";
    reader.emplace(hello, of);
  }
  bool result(std::string_view members) {
    return take(R"({"jsonrpc":"2.0","id":1,"result":{)" + std::string(members) + "}}");
  }
  bool error(int code) {
    return take(R"({"jsonrpc":"2.0","id":1,"error":{"code":)" + std::to_string(code) + R"(,"message":"no"}})");
  }
  bool take(std::string_view text) {
    const test::peeked response(text);
    return reader->take(response.seen, response.text(), why);
  }

  std::optional<listing_reader> reader;
  std::string why;
};

TEST_F(listing_reading, takes_all_pages_of_all_kinds_in_order) {
  begin({.abilities = {.prompts = true, .resources = true}});
  EXPECT_EQ(reader->request(4), R"({"jsonrpc":"2.0","id":4,"method":"tools/list"})");
  ASSERT_TRUE(result(R"("tools":[1],"nextCursor":"p\u00e9")"));
  EXPECT_EQ(reader->request(5), R"({"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":"p\u00e9"}})");
  ASSERT_TRUE(result(R"("tools":[2.0],"nextCursor":null)"));
  EXPECT_EQ(reader->method(), "prompts/list");
  ASSERT_TRUE(result(R"("prompts":[],"nextCursor":"")"));
  EXPECT_EQ(reader->method(), "resources/list");
  ASSERT_TRUE(result(R"("resources":[])"));
  EXPECT_EQ(reader->method(), "resources/templates/list");
  EXPECT_FALSE(reader->done());
  ASSERT_TRUE(result(R"("resourceTemplates":[])"));
  ASSERT_TRUE(reader->done());

  const listing listed = reader->finish();
  EXPECT_EQ(listed.tools, (std::vector<std::string>{R"({"tools":[1],"nextCursor":"p\u00e9"})",
                                                    R"({"tools":[2.0],"nextCursor":null})"}));
  EXPECT_EQ(listed.templates, std::vector<std::string>{R"({"resourceTemplates":[]})"});
  EXPECT_EQ(listed.capabilities, R"({"x":1})");
  EXPECT_EQ(listed.instructions, "read me");
}

TEST_F(listing_reading, asks_only_for_what_the_server_declares_and_for_tools) {
  begin({.abilities = {.resources = true}});
  ASSERT_TRUE(result(R"("tools":[])"));
  EXPECT_EQ(reader->method(), "resources/list");
  begin({});
  ASSERT_TRUE(result(R"("tools":[])"));
  EXPECT_TRUE(reader->done());
}

TEST_F(listing_reading, takes_a_method_that_does_not_exist_for_an_empty_list) {
  begin({.abilities = {.resources = true}});
  ASSERT_TRUE(error(-32601));
  ASSERT_TRUE(result(R"("resources":[])"));
  ASSERT_TRUE(error(-32601));
  EXPECT_TRUE(reader->done());
  EXPECT_TRUE(reader->finish().tools.empty());
}

TEST_F(listing_reading, fails_as_a_whole_when_one_page_fails) {
  begin({.abilities = {.prompts = true}});
  ASSERT_TRUE(result(R"("tools":[],"nextCursor":"2")"));
  EXPECT_FALSE(error(-32601)) << "the first page was there";
  EXPECT_EQ(why, R"(it answered tools/list with error -32601: {"code":-32601,"message":"no"})");
  begin({.abilities = {.prompts = true}});
  ASSERT_TRUE(result(R"("tools":[])"));
  EXPECT_FALSE(error(-32603));
}

TEST_F(listing_reading, does_not_go_in_circles) {
  begin({});
  ASSERT_TRUE(result(R"("nextCursor":"2")"));
  EXPECT_FALSE(result(R"("nextCursor":"2")"));
  EXPECT_EQ(why, "tools/list gave the same cursor twice");

  begin({});
  std::size_t page = 0;
  while (result(R"("nextCursor":")" + std::to_string(page) + "\"")) ASSERT_LE(++page, listing_reader::most_pages);
  EXPECT_EQ(page, listing_reader::most_pages);
  EXPECT_EQ(why, "tools/list does not come to an end");
}

TEST_F(listing_reading, asks_a_modern_server_in_its_own_words) {
  begin({}, era::modern);
  EXPECT_NE(reader->request(1).find(R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")"), std::string::npos);
  ASSERT_TRUE(result(""));
  EXPECT_EQ(reader->finish().era, era::modern);
}

TEST(list_change, is_told_by_three_notifications) {
  EXPECT_TRUE(says_list_changed("notifications/tools/list_changed"));
  EXPECT_TRUE(says_list_changed("notifications/prompts/list_changed"));
  EXPECT_TRUE(says_list_changed("notifications/resources/list_changed"));
  EXPECT_FALSE(says_list_changed("notifications/roots/list_changed"));
  EXPECT_FALSE(says_list_changed("notifications/resources/updated"));
}

}  // namespace
}  // namespace switchgear::upstream
