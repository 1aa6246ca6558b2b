#include "protocol/subscription.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchgear::protocol {
namespace {

TEST(a_filter, wants_what_it_names_and_nothing_else) {
  const auto filter = read_filter(
      R"({"toolsListChanged":true,"promptsListChanged":false,"resourceSubscriptions":["a",7,"b"],"new":true})");
  EXPECT_EQ(filter.lists, (list_changes{.tools = true}));
  EXPECT_EQ(filter.uris, (std::vector<std::string>{"a", "b"}));
}

TEST(a_filter, that_cannot_be_read_wants_nothing) {
  for (const char* text : {"", "7", "[]", "{", R"({"toolsListChanged":"true","resourceSubscriptions":"a"})"}) {
    const auto filter = read_filter(text);
    EXPECT_FALSE(filter.lists.any()) << text;
    EXPECT_TRUE(filter.uris.empty()) << text;
  }
}

TEST(a_filter, is_taken_up_to_a_limit) {
  std::string text = R"({"resourceSubscriptions":["a")";
  for (std::size_t i = 0; i < most_watched; ++i) text += R"(,"a")";
  EXPECT_EQ(read_filter(text + "]}").uris.size(), most_watched);
}

TEST(an_acknowledgement, says_what_is_honoured) {
  EXPECT_EQ(write_acknowledgement("\"x\"", {.lists = {.tools = true, .resources = true}, .uris = {"a\"", "b"}}),
            R"({"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":)"
            R"({"_meta":{"io.modelcontextprotocol/subscriptionId":"x"},"notifications":)"
            R"({"toolsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a\"","b"]}}})");
  EXPECT_TRUE(write_acknowledgement("1", {}).ends_with(R"("notifications":{}}})"));
}

TEST(a_notification, is_tagged_for_a_modern_stream_only) {
  EXPECT_EQ(write_list_changed("tools", ""), R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})");
  EXPECT_EQ(write_list_changed("prompts", "1"),
            R"({"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":)"
            R"({"_meta":{"io.modelcontextprotocol/subscriptionId":1}}})");
  EXPECT_EQ(write_resource_updated("a", ""),
            R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a"}})");
  EXPECT_EQ(write_resource_updated("a", "1"), R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":)"
                                              R"({"_meta":{"io.modelcontextprotocol/subscriptionId":1},"uri":"a"}})");
}

}  // namespace
}  // namespace switchgear::protocol
