#include "protocol/schema_headers.hpp"

#include "protocol/tools_list.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace switchgear::protocol {
namespace {

std::string problem_of(std::string_view schema) {
  return read_schema_headers(schema).problem;
}

TEST(schema_headers, are_found_down_any_chain_of_properties) {
  const schema_headers found = read_schema_headers(
      R"({"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"query":{"type":"string"},)"
      R"("options":{"type":"object","properties":{"limit":{"x-mcp-header":"Limit","type":"integer"},)"
      R"("deep":{"properties":{"dry":{"type":"boolean","x-mcp-header":"Dry-Run"}}}}}},"required":["region"]})");

  EXPECT_EQ(found.problem, "");
  ASSERT_EQ(found.arguments.size(), 3u);
  EXPECT_EQ(found.arguments[0].header, "Mcp-Param-Region");
  EXPECT_EQ(found.arguments[0].path, std::vector<std::string>{"region"});
  EXPECT_EQ(found.arguments[1].header, "Mcp-Param-Limit");
  EXPECT_EQ(found.arguments[1].path, (std::vector<std::string>{"options", "limit"}));
  EXPECT_EQ(found.arguments[2].path, (std::vector<std::string>{"options", "deep", "dry"}));
}

TEST(schema_headers, are_none_where_nothing_is_annotated) {
  for (
      std::string_view schema :
      {"{}", R"({"type":"object"})", R"({"properties":{"x-mcp-header":{"type":"string"}}})",
       R"({"default":{"x-mcp-header":"A"},"properties":{"a":{"enum":[{"x-mcp-header":"A"}],"const":{"x-mcp-header":1}}}})"}) {
    const schema_headers found = read_schema_headers(schema);
    EXPECT_EQ(found.problem, "") << schema;
    EXPECT_TRUE(found.arguments.empty()) << schema;
  }
}

TEST(schema_headers, are_found_behind_escapes) {
  EXPECT_EQ(read_schema_headers(R"({"properties":{"a":{"type":"string","\u0078-mcp-header":"A"}}})").arguments.size(),
            1u);
}

TEST(schema_header, must_be_a_token_at_a_string_an_integer_or_a_boolean) {
  for (std::string_view bad : {R"("")", R"("My Region")", R"("R:")", R"("a\r\nb")", R"("größe")", "7", "null", "[]"}) {
    EXPECT_EQ(problem_of(R"({"properties":{"a":{"type":"string","x-mcp-header":)" + std::string(bad) + "}}}"),
              "x-mcp-header of a: it is no header name")
        << bad;
  }
  for (std::string_view bad : {R"("number")", R"("object")", R"("array")", R"("null")", R"(["string","null"])", "1"}) {
    EXPECT_EQ(problem_of(R"({"properties":{"a":{"x-mcp-header":"A","type":)" + std::string(bad) + "}}}"),
              "x-mcp-header of a: it is at neither a string nor an integer nor a boolean")
        << bad;
  }
  EXPECT_NE(problem_of(R"({"properties":{"a":{"x-mcp-header":"A"}}})"), "");
}

TEST(schema_header, is_unique_whatever_its_case) {
  EXPECT_EQ(problem_of(R"({"properties":{"a":{"type":"string","x-mcp-header":"Region"},)"
                       R"("b":{"properties":{"c":{"type":"string","x-mcp-header":"rEGION"}}}}})"),
            "x-mcp-header of b.c: another has the same header name");
}

TEST(schema_header, is_reached_through_nothing_but_properties) {
  constexpr std::string_view annotated = R"({"type":"string","x-mcp-header":"A"})";
  for (std::string_view keyword : {"items", "additionalProperties", "not", "if", "then", "else", "contains"}) {
    const std::string schema =
        R"({"properties":{"a":{")" + std::string(keyword) + R"(":)" + std::string(annotated) + "}}}";
    EXPECT_EQ(problem_of(schema), "x-mcp-header of a: it is not at a plain property") << schema;
  }
  for (std::string_view keyword : {"oneOf", "anyOf", "allOf", "prefixItems"}) {
    const std::string schema =
        R"({")" + std::string(keyword) + R"(":[{},{"properties":{"b":)" + std::string(annotated) + "}}]}";
    EXPECT_EQ(problem_of(schema), "x-mcp-header of b: it is not at a plain property") << schema;
  }
  for (std::string_view keyword : {"$defs", "definitions", "patternProperties", "dependentSchemas"}) {
    const std::string schema = R"({")" + std::string(keyword) + R"(":{"b":)" + std::string(annotated) + "}}";
    EXPECT_EQ(problem_of(schema), "x-mcp-header of b: it is not at a plain property") << schema;
  }
  EXPECT_EQ(problem_of(annotated), "x-mcp-header: it is not at a plain property");
}

TEST(schema_headers, are_bounded_whatever_the_schema) {
  std::string many = R"({"properties":{)";
  for (std::size_t i = 0; i <= most_mirrored; ++i) {
    many += (i == 0 ? "\"p" : ",\"p") + std::to_string(i) + R"(":{"type":"string","x-mcp-header":"H)" +
            std::to_string(i) + "\"}";
  }
  EXPECT_EQ(problem_of(many + "}}"), "x-mcp-header of p64: there are too many");
  EXPECT_TRUE(read_schema_headers(many + "}}").arguments.empty());

  std::string deep = R"({"type":"string","x-mcp-header":"A"})";
  for (int i = 0; i < 40; ++i) deep = R"({"properties":{"p":)" + deep + "}}";
  EXPECT_TRUE(problem_of(deep).ends_with("it is too deep"));
  for (int i = 0; i < 300; ++i) deep = R"({"properties":{"p":)" + deep + "}}";
  EXPECT_TRUE(problem_of(deep).ends_with("its inputSchema is not valid JSON"));
}

TEST(tool, with_a_bad_header_annotation_is_listed_and_says_so) {
  const auto page = read_tools_page(
      R"({"tools":[{"name":"good","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}},)"
      R"({"name":"bad","inputSchema":{"properties":{"a":{"type":"object","x-mcp-header":"A"}}}}]})");

  ASSERT_EQ(page->tools.size(), 2u);
  EXPECT_EQ(page->tools[0].headers.arguments.size(), 1u);
  EXPECT_EQ(page->tools[0].headers.problem, "");
  EXPECT_TRUE(page->tools[1].headers.arguments.empty());
  EXPECT_NE(page->tools[1].headers.problem, "");
}

}  // namespace
}  // namespace switchgear::protocol
