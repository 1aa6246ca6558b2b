#include "call/known_arguments.hpp"

#include <gtest/gtest.h>

namespace switchgear::call {
namespace {

using names = std::vector<std::string>;

names unknown(std::string_view schema, const names& paths = {"q", "/filter/0/name", "limit", "q"}) {
  return unknown_arguments(R"({"name":"t","inputSchema":)" + std::string(schema) + "}", paths);
}

TEST(an_argument, that_the_input_schema_does_not_list_is_unknown) {
  EXPECT_EQ(unknown(R"({"type":"object","properties":{"q":{},"other":{}}})"), (names{"filter", "limit"}));
  EXPECT_EQ(unknown(R"({"type":"object","properties":{"q":{},"filter":{},"limit":{}}})"), names{});
  EXPECT_EQ(unknown(R"({"type":"object","additionalProperties":false})"), (names{"filter", "limit", "q"}));
}

TEST(an_argument, is_not_judged_by_a_schema_that_leaves_it_open) {
  EXPECT_EQ(unknown(R"({"type":"object"})"), names{});
  EXPECT_EQ(unknown(R"({"type":"object","additionalProperties":true})"), names{});
  EXPECT_EQ(unknown(R"({"properties":{"q":{}},"patternProperties":{"^f":{}}})"), names{});
  EXPECT_EQ(unknown(R"({"properties":{"q":{}},"allOf":[{"properties":{"limit":{}}}]})"), names{});
  EXPECT_EQ(unknown(R"({"$ref":"#/$defs/a"})"), names{});
  EXPECT_EQ(unknown(R"({"properties":5})"), names{});
  EXPECT_EQ(unknown("true"), names{});
  EXPECT_EQ(unknown_arguments("no JSON", {"q"}), names{});
}

}  // namespace
}  // namespace switchgear::call
