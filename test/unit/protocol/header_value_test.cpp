#include "protocol/header_value.hpp"

#include <gtest/gtest.h>

#include <string>

namespace switchgear::protocol {
namespace {

TEST(header_value, is_the_text_where_a_header_carries_it) {
  for (const char* plain : {"us-west1", "a b", "a\tb", "~!\"#", "=?base64", "=?BASE64?eA==?=", "=?base64?="}) {
    EXPECT_EQ(encode_header_value(plain), plain);
    EXPECT_EQ(decode_header_value(plain), plain);
  }
}

TEST(header_value, is_wrapped_where_a_header_would_harm_it) {
  EXPECT_EQ(encode_header_value("Hello\n"), "=?base64?SGVsbG8K?=");
  for (const char* text : {"", " ", " a", "a ", "\ta", "a\r\nX: y", "größe", "\x7f", "=?base64?eA==?="}) {
    const std::string value = encode_header_value(text);
    EXPECT_TRUE(value.starts_with("=?base64?") && value.ends_with("?=")) << value;
    EXPECT_EQ(value.find_first_of("\r\n\t "), std::string::npos);
    EXPECT_EQ(decode_header_value(value), text);
  }
}

TEST(header_value, is_read_without_the_blanks_around_it) {
  EXPECT_EQ(decode_header_value(" \t a b\t"), "a b");
  EXPECT_EQ(decode_header_value("  =?base64?SGk=?= "), "Hi");
  EXPECT_EQ(decode_header_value("   "), "");
}

TEST(header_value, says_nothing_when_the_wrapper_holds_no_base64) {
  for (const char* bad : {"=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?-__-?=", "=?base64? SGk=?="}) {
    EXPECT_FALSE(decode_header_value(bad)) << bad;
  }
}

}  // namespace
}  // namespace switchgear::protocol
