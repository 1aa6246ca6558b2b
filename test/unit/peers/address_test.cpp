#include "peers/redis/exchange.hpp"

#include <gtest/gtest.h>

namespace switchgear::peers::redis {
namespace {

// A cluster keeps in one slot what has one hash tag.
TEST(address, has_the_tag_of_its_server_whatever_the_scope) {
  EXPECT_EQ(address("cb1", "search__query").state, "cb1:{search}:s:search__query");
  EXPECT_EQ(address("cb1", "server:search").state, "cb1:{search}:s:server:search");
  EXPECT_EQ(address("cb1", "search:prompts/get").state, "cb1:{search}:s:search:prompts/get");
  for (const char* name : {"search__query", "server:search", "search:prompts/get", "search:resources/read"}) {
    EXPECT_EQ(address("cb1", name).channel, "cb1:{search}:ev") << name;
  }
}

TEST(address, of_a_tool_without_an_alias_has_a_tag_of_its_own) {
  EXPECT_EQ(address("cb1", "query").window, "cb1:{query}:w:query");
}

}  // namespace
}  // namespace switchgear::peers::redis
