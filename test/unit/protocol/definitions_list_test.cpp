#include "protocol/definitions_list.hpp"

#include "protocol/errc.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace switchgear::protocol {
namespace {

TEST(prompts_page, gives_names_definitions_and_the_cursor) {
  const auto page = read_definitions_page(
      definition_kind::prompt,
      R"({"prompts":[{"name":"gr\u0065et","arguments":[{"name":"who"}],"x":1.0},{"name":"bare"}],"nextCursor":"2"})");

  ASSERT_TRUE(page);
  ASSERT_EQ(page->definitions.size(), 2u);
  EXPECT_EQ(page->definitions[0].key, "greet");
  EXPECT_EQ(page->definitions[0].text, R"({"name":"gr\u0065et","arguments":[{"name":"who"}],"x":1.0})");
  EXPECT_EQ(page->definitions[1].key, "bare");
  EXPECT_EQ(page->next_cursor, R"("2")");
  EXPECT_TRUE(page->problems.empty());
}

// RC-041
TEST(definitions_page, is_the_last_one_without_a_cursor_worth_the_name) {
  for (std::string_view end : {"", R"(,"nextCursor":null)", R"(,"nextCursor":"")", R"(,"nextCursor":7)"}) {
    const std::string text = R"({"prompts":[])" + std::string(end) + "}";
    EXPECT_EQ(read_definitions_page(definition_kind::prompt, text)->next_cursor, "") << text;
  }
}

TEST(resources_page, is_read_by_uri) {
  const auto page = read_definitions_page(
      definition_kind::resource, R"({"resources":[{"uri":"file:///a","name":"a","size":12345678901234567890}]})");

  ASSERT_TRUE(page);
  ASSERT_EQ(page->definitions.size(), 1u);
  EXPECT_EQ(page->definitions[0].key, "file:///a");
  EXPECT_EQ(page->definitions[0].key_token.in(page->definitions[0].text), R"("file:///a")");
}

TEST(templates_page, is_read_by_pattern) {
  const auto page = read_definitions_page(definition_kind::resource_template,
                                          R"({"resourceTemplates":[{"name":"t","uriTemplate":"test://{id}/data"}]})");

  ASSERT_TRUE(page);
  ASSERT_EQ(page->definitions.size(), 1u);
  EXPECT_EQ(page->definitions[0].key, "test://{id}/data");
}

// RC-044
TEST(definitions_page, loses_only_the_bad_entries_among_good_ones) {
  const auto prompts = read_definitions_page(
      definition_kind::prompt, R"({"prompts":[7,{"name":""},{"name":"twice","name":"x"},{"name":"odd","arguments":{}},)"
                               R"({"name":"odder","arguments":["who"]},{"name":"good","arguments":null}]})");
  ASSERT_TRUE(prompts);
  ASSERT_EQ(prompts->definitions.size(), 1u);
  EXPECT_EQ(prompts->definitions[0].key, "good");
  ASSERT_EQ(prompts->problems.size(), 5u);
  EXPECT_EQ(prompts->problems[0], "prompt 1 is left out: it is not an object");
  EXPECT_EQ(prompts->problems[3], "prompt 4 (odd) is left out: its arguments are not a list");

  const auto resources = read_definitions_page(
      definition_kind::resource, R"({"resources":[{"uri":"a:b"},{"name":"n"},{"uri":"a:c","name":"c"}]})");
  ASSERT_EQ(resources->definitions.size(), 1u);
  EXPECT_EQ(resources->problems[0], "resource 1 (a:b) is left out: it has no name");
  EXPECT_EQ(resources->problems[1], "resource 2 is left out: it has no uri");
}

TEST(definitions_page, refuses_what_is_no_such_list) {
  for (std::string_view bad : {"{}", "[]", R"({"prompts":{}})", R"({"prompts":[],"prompts":[]})", R"({"tools":[]})"}) {
    EXPECT_EQ(read_definitions_page(definition_kind::prompt, bad).error(), errc::bad_list) << bad;
  }
  for (std::string_view bad : {"", R"({"prompts":[)", R"({"prompts":[]}x)"}) {
    EXPECT_EQ(read_definitions_page(definition_kind::prompt, bad).error(), errc::not_json) << bad;
  }
}

// RC-044
TEST(renamed_definition, of_a_resource_changes_nothing_but_the_uri) {
  const auto page = read_definitions_page(
      definition_kind::resource, R"({"resources":[{ "name":"uri", "uri" : "a:b" ,"_meta":{"uri":"a:b"},"n":1e2}]})");
  ASSERT_EQ(page->definitions.size(), 1u);

  EXPECT_EQ(renamed(page->definitions[0], "c:d"), R"({ "name":"uri", "uri" : "c:d" ,"_meta":{"uri":"a:b"},"n":1e2})");
}

}  // namespace
}  // namespace switchgear::protocol
