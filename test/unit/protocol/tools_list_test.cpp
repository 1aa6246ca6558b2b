#include "protocol/tools_list.hpp"

#include "protocol/errc.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace switchgear::protocol {
namespace {

TEST(tools_page, gives_names_definitions_hints_and_schemas) {
  const std::string_view text =
      R"({"tools":[{"name":"read","title":"R","inputSchema":{"type":"object"},"outputSchema":{"type":"object","$defs":{}},)"
      R"("annotations":{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":"x"},)"
      R"("execution":{"taskSupport":"required"},"_meta":{"name":"no"},"unknown":[1.0]},)"
      R"({"inputSchema":{},"name":"\u0077rite"}],"nextCursor":"c\"1"})";

  const auto page = read_tools_page(text);

  ASSERT_TRUE(page);
  ASSERT_EQ(page->tools.size(), 2u);
  const tool& read = page->tools[0];
  EXPECT_EQ(read.name, "read");
  EXPECT_EQ(read.output_schema.in(read.definition), R"({"type":"object","$defs":{}})");
  EXPECT_EQ(read.hints.read_only, true);
  EXPECT_EQ(read.hints.destructive, false);
  EXPECT_FALSE(read.hints.idempotent);
  EXPECT_FALSE(read.hints.open_world);
  EXPECT_TRUE(read.task_required);
  EXPECT_EQ(page->tools[1].name, "write");
  EXPECT_FALSE(page->tools[1].output_schema);
  EXPECT_FALSE(page->tools[1].task_required);
  EXPECT_EQ(page->next_cursor, R"("c\"1")");
  EXPECT_TRUE(page->problems.empty());
}

TEST(tools_page, is_the_last_one_without_a_cursor) {
  EXPECT_TRUE(read_tools_page(R"({"tools":[]})")->next_cursor.empty());
  EXPECT_TRUE(read_tools_page(R"({"tools":[],"nextCursor":null})")->next_cursor.empty());
}

// RC-044
TEST(tools_page, loses_only_the_bad_tool_among_good_ones) {
  std::string text = R"({"tools":[)";
  for (std::string_view bad :
       {"5", "null", "{}", R"({"name":7,"inputSchema":{}})", R"({"name":"","inputSchema":{}})",
        R"({"name":"twice","name":"x","inputSchema":{}})", R"({"name":"bare"})", R"({"name":"s","inputSchema":"x"})"}) {
    text.append(bad).append(",");
  }
  text.append(R"({"name":"good","inputSchema":{"type":"object"}}]})");

  const auto page = read_tools_page(text);

  ASSERT_TRUE(page);
  ASSERT_EQ(page->tools.size(), 1u);
  EXPECT_EQ(page->tools[0].name, "good");
  ASSERT_EQ(page->problems.size(), 8u);
  EXPECT_EQ(page->problems[0], "tool 1 is left out: it is not an object");
  EXPECT_EQ(page->problems[6], "tool 7 (bare) is left out: its inputSchema is not an object");
}

TEST(tools_page, refuses_what_is_no_list) {
  EXPECT_EQ(read_tools_page("{}").error(), errc::bad_list);
  EXPECT_EQ(read_tools_page("[]").error(), errc::bad_list);
  EXPECT_EQ(read_tools_page(R"({"tools":{}})").error(), errc::bad_list);
  EXPECT_EQ(read_tools_page(R"({"tools":[)").error(), errc::not_json);
  EXPECT_EQ(read_tools_page("").error(), errc::not_json);
}

// RC-044
TEST(renamed_definition, changes_nothing_but_the_name) {
  const auto page = read_tools_page(
      R"({"tools":[{ "title":"name", "name" : "a\u0062" , "inputSchema":{"properties":{"name":{"const":1.0}}},"x":1e2}]})");
  ASSERT_EQ(page->tools.size(), 1u);

  EXPECT_EQ(renamed(page->tools[0], "up__ab"),
            R"({ "title":"name", "name" : "up__ab" , "inputSchema":{"properties":{"name":{"const":1.0}}},"x":1e2})");
}

}  // namespace
}  // namespace switchgear::protocol
