#include "protocol/server_abilities.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace switchgear::protocol {
namespace {

TEST(server_abilities, are_what_the_server_says) {
  const auto all = read_server_abilities(
      R"({"tools":{},"prompts":{"listChanged":true},"resources":{"subscribe":true},"completions":{},"logging":{},"x":1})");
  EXPECT_EQ(all, (server_abilities{true, true, true, true, true, true}));
  EXPECT_EQ(read_server_abilities(R"({"resources":{"subscribe":false}})"), server_abilities{.resources = true});
}

TEST(server_abilities, are_none_where_nothing_is_understood) {
  for (std::string_view none : {"", "[]", "7", "{", "{}", R"({"tools":true,"prompts":null,"resources":"yes"})"}) {
    EXPECT_EQ(read_server_abilities(none), server_abilities{}) << none;
  }
}

TEST(server_abilities, are_written_with_notices_of_every_list) {
  EXPECT_EQ(write_server_abilities({}), "{}");
  EXPECT_EQ(write_server_abilities({.tools = true, .resources = true}),
            R"({"tools":{"listChanged":true},"resources":{"listChanged":true}})");
  const server_abilities all{true, true, true, true, true, true};
  EXPECT_EQ(write_server_abilities(all),
            R"({"tools":{"listChanged":true},"prompts":{"listChanged":true},)"
            R"("resources":{"listChanged":true,"subscribe":true},"completions":{},"logging":{}})");
  EXPECT_EQ(read_server_abilities(write_server_abilities(all)), all);
}

}  // namespace
}  // namespace switchgear::protocol
