#include "http/fields.hpp"

#include "http/errc.hpp"

#include <gtest/gtest.h>

namespace switchgear::http {
namespace {

constexpr std::string_view head =
    "POST /mcp HTTP/1.1\r\nHost: a\r\nMcp-Param-Region:  us west \t\r\nMcp-Param-Empty:\r\nX: 1\r\nx: 2\r\n\r\n";

TEST(a_field, is_found_by_its_name_in_any_case_and_without_the_blanks_around) {
  EXPECT_EQ(field(head, "mcp-param-REGION"), "us west");
  EXPECT_EQ(field(head, "Mcp-Param-Empty"), "");
}

TEST(a_field, that_is_absent_or_there_twice_is_none) {
  EXPECT_EQ(field(head, "Mcp-Param"), std::nullopt);
  EXPECT_EQ(field(head, "X"), std::nullopt);
  EXPECT_EQ(field("", "X"), std::nullopt);
  EXPECT_EQ(field("GET / HTTP/1.1", "X"), std::nullopt);
}

TEST(a_single_field, tells_what_is_absent_from_what_is_there_twice) {
  EXPECT_EQ(single_field(head, "mcp-param-region").value(), "us west");
  EXPECT_EQ(single_field(head, "Mcp-Param").value().data(), nullptr);
  EXPECT_NE(single_field(head, "Mcp-Param-Empty").value().data(), nullptr);
  EXPECT_EQ(single_field(head, "X").error(), errc::duplicate_field);
}

}  // namespace
}  // namespace switchgear::http
