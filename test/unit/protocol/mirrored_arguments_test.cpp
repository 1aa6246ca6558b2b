#include "protocol/mirrored_arguments.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::protocol {
namespace {

const std::vector<mirrored_argument>& mirrored() {
  static const std::vector<mirrored_argument> list = {{"Mcp-Param-Region", {"region"}},
                                                      {"Mcp-Param-Limit", {"options", "limit"}},
                                                      {"Mcp-Param-Dry", {"options", "dry"}}};
  return list;
}

std::string lines(std::string_view arguments) {
  return mirrored_lines(mirrored(), arguments);
}

std::string difference(std::string_view arguments, const std::map<std::string, std::string, std::less<>>& headers) {
  return mirrored_difference(mirrored(), arguments, [&](std::string_view name) -> std::optional<std::string_view> {
    const auto found = headers.find(name);
    if (found == headers.end()) return std::nullopt;
    return found->second;
  });
}

TEST(mirrored_lines, say_strings_integers_and_booleans) {
  EXPECT_EQ(lines(R"({"q":[1,{"region":"no"}],"options":{"dry":false,"limit":42},"region":"us-west1"})"),
            "Mcp-Param-Region: us-west1\r\nMcp-Param-Limit: 42\r\nMcp-Param-Dry: false\r\n");
  EXPECT_EQ(lines(R"({"region":"a \"b\""})"), "Mcp-Param-Region: a \"b\"\r\n");
  EXPECT_EQ(lines(R"({"region":"\u00fc\r\nX: y"})"), "Mcp-Param-Region: =?base64?w7wNClg6IHk=?=\r\n");
  EXPECT_EQ(lines(R"({"region":""})"),
            "Mcp-Param-Region: =?base64?"
            "?=\r\n");
}

TEST(mirrored_lines, leave_out_what_is_not_there_and_what_no_header_can_say) {
  for (std::string_view none :
       {"", "{}", R"({"region":null,"options":null})", R"({"region":{"region":"x"},"options":[{"limit":1}]})",
        R"({"options":{"limit":1.5}})", R"({"options":{"limit":9007199254740993}})", R"({"options":{"limit":1e400}})",
        R"({"region":"\x"})", R"({"region":)", "[]"}) {
    EXPECT_EQ(lines(none), "") << none;
  }
}

TEST(mirrored_lines, write_an_integer_as_one_however_it_was_written) {
  for (std::string_view number : {"42", "42.0", "4.2e1", "420E-1"}) {
    EXPECT_EQ(lines(R"({"options":{"limit":)" + std::string(number) + "}}"), "Mcp-Param-Limit: 42\r\n") << number;
  }
  EXPECT_EQ(lines(R"({"options":{"limit":-9007199254740991}})"), "Mcp-Param-Limit: -9007199254740991\r\n");
  EXPECT_EQ(lines(R"({"options":{"limit":-0}})"), "Mcp-Param-Limit: 0\r\n");
}

TEST(mirrored_lines, go_by_the_last_of_two_members) {
  EXPECT_EQ(lines(R"({"region":"a","region":"b","options":{"limit":1},"options":{"dry":true}})"),
            "Mcp-Param-Region: b\r\nMcp-Param-Dry: true\r\n");
}

TEST(mirrored_difference, is_none_when_headers_say_what_the_arguments_do) {
  EXPECT_EQ(difference("{}", {}), "");
  EXPECT_EQ(difference("", {}), "");
  EXPECT_EQ(difference(R"({"region":"Hello","options":{"limit":42,"dry":true}})",
                       {{"Mcp-Param-Region", "=?base64?SGVsbG8=?="},
                        {"Mcp-Param-Limit", " 42.0 "},
                        {"Mcp-Param-Dry", "true"},
                        {"Mcp-Param-Other", "x"}}),
            "");
  EXPECT_EQ(difference(R"({"region":null,"options":{"limit":null}})", {}), "");
}

TEST(mirrored_difference, names_the_header_that_is_wrong) {
  EXPECT_EQ(difference(R"({"region":"a"})", {}), "Mcp-Param-Region is missing");
  EXPECT_EQ(difference(R"({"region":"a"})", {{"Mcp-Param-Region", "A"}}), "Mcp-Param-Region differs from its argument");
  EXPECT_EQ(difference(R"({"region":"042"})", {{"Mcp-Param-Region", "42"}}),
            "Mcp-Param-Region differs from its argument");
  EXPECT_EQ(difference(R"({"options":{"limit":42}})", {{"Mcp-Param-Limit", "43"}}),
            "Mcp-Param-Limit differs from its argument");
  EXPECT_EQ(difference(R"({"options":{"limit":42}})", {{"Mcp-Param-Limit", "0x2a"}}),
            "Mcp-Param-Limit differs from its argument");
  EXPECT_EQ(difference(R"({"options":{"dry":true}})", {{"Mcp-Param-Dry", "True"}}),
            "Mcp-Param-Dry differs from its argument");
  for (std::string_view absent : {"{}", R"({"region":null})", R"({"region":{}})", ""}) {
    EXPECT_NE(difference(absent, {{"Mcp-Param-Region", "a"}}), "") << absent;
  }
  EXPECT_EQ(difference(R"({"region":"Hello"})", {{"Mcp-Param-Region", "=?base64?SGVsbG8?="}}),
            "Mcp-Param-Region is no valid base64");
}

TEST(mirrored_difference, asks_for_no_header_that_clients_do_not_write) {
  EXPECT_EQ(difference(R"({"options":{"limit":9007199254740993}})", {}), "");
  EXPECT_EQ(difference(R"({"options":{"limit":1.5}})", {{"Mcp-Param-Limit", "1.5"}}), "");
  EXPECT_NE(difference(R"({"options":{"limit":1.5}})", {{"Mcp-Param-Limit", "2"}}), "");
}

}  // namespace
}  // namespace switchgear::protocol
