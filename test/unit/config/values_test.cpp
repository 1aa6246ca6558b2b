#include "config/values.hpp"

#include <gtest/gtest.h>

namespace switchgear::config {
namespace {

using namespace std::chrono_literals;

TEST(a_duration_text, is_a_number_with_a_unit) {
  EXPECT_EQ(parse_duration("250ms"), 250ms);
  EXPECT_EQ(parse_duration("1.5s"), 1500ms);
  EXPECT_EQ(parse_duration("10m"), 10min);
  EXPECT_EQ(parse_duration("1h"), 1h);
  EXPECT_EQ(parse_duration("20us"), 20us);
  EXPECT_EQ(parse_duration("0"), 0s);
}

TEST(a_duration_text, is_refused_without_unit_with_sign_or_beyond_what_fits) {
  for (const char* wrong : {"", "5", "s", "-5s", "+5s", "5 s", "5S", "5sec", "1e3s", ".5s", "5.s", "0x5s",
                            "9999999999h", "99999999999999999999s", "1.0000000001s", "1h30m", "nan", "inf"}) {
    EXPECT_FALSE(parse_duration(wrong)) << wrong;
  }
}

TEST(a_share_text, is_a_percentage_and_exact) {
  EXPECT_EQ(parse_share("15%"), 0.15);
  EXPECT_EQ(parse_share("99.99%"), 0.9999);
  EXPECT_EQ(parse_share("0%"), 0.0);
  EXPECT_EQ(parse_share("100%"), 1.0);
  for (const char* wrong : {"", "0.15", "15", "101%", "-1%", "15 %", "%", "1e1%"})
    EXPECT_FALSE(parse_share(wrong)) << wrong;
}

TEST(a_size_text, is_a_number_of_bytes_with_or_without_unit) {
  EXPECT_EQ(parse_size("4MiB"), 4u * 1024 * 1024);
  EXPECT_EQ(parse_size("64KiB"), 64u * 1024);
  EXPECT_EQ(parse_size("1GB"), 1'000'000'000u);
  EXPECT_EQ(parse_size("1.5KiB"), 1536u);
  EXPECT_EQ(parse_size("100"), 100u);
  for (const char* wrong : {"", "-1", "4mib", "0.5", "99999999999GiB", "1TiB"})
    EXPECT_FALSE(parse_size(wrong)) << wrong;
}

TEST(a_count_text, is_digits_alone) {
  EXPECT_EQ(parse_count("0"), 0u);
  EXPECT_EQ(parse_count("18446744073709551615"), 18446744073709551615u);
  for (const char* wrong : {"", "-1", "+1", "1.0", "18446744073709551616", "1 ", " 1", "0x10"}) {
    EXPECT_FALSE(parse_count(wrong)) << wrong;
  }
}

TEST(every_value, is_written_so_that_it_reads_back) {
  for (const duration value :
       {duration(1), duration(1500), duration(250ms), duration(90s), duration(1h), duration(0)}) {
    EXPECT_EQ(parse_duration(format_duration(value)), value) << format_duration(value);
  }
  for (const double value : {0.0, 0.15, 0.9999, 0.999999999, 1.0, 0.01}) {
    EXPECT_EQ(parse_share(format_share(value)), value) << format_share(value);
  }
  for (const std::size_t value : {0ul, 1ul, 1000ul, 1024ul, 1536ul, 4194304ul}) {
    EXPECT_EQ(parse_size(format_size(value)), value) << format_size(value);
  }
  for (const double value : {0.0, 1.5, 14.3}) EXPECT_EQ(parse_decimal(format_decimal(value)), value);
}

TEST(an_address_to_listen_on, is_ip_and_port) {
  const auto v4 = parse_endpoint("0.0.0.0:80");
  ASSERT_TRUE(v4);
  EXPECT_EQ(v4->address, "0.0.0.0");
  EXPECT_EQ(v4->port, 80);
  const auto v6 = parse_endpoint("[::1]:8080");
  ASSERT_TRUE(v6);
  EXPECT_EQ(v6->address, "::1");
  EXPECT_EQ(format_endpoint(*v6), "[::1]:8080");
}

TEST(an_address_to_listen_on, is_loopback_when_only_the_port_is_given) {
  for (const char* text : {"9000", ":9000", "localhost:9000", "127.0.0.1:9000"}) {
    const auto parsed = parse_endpoint(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(format_endpoint(*parsed), "127.0.0.1:9000");
  }
}

TEST(an_address_to_listen_on, is_refused_when_it_is_neither) {
  for (const char* wrong : {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "256.0.0.1:1",
                            "::1:80", "example.com:80", "[127.0.0.1]:80", "[::1]", "[::1:80", "127.0.0.1:80 "}) {
    EXPECT_FALSE(parse_endpoint(wrong)) << wrong;
  }
}

TEST(a_quoted_text, is_plain_where_yaml_would_read_the_same_text) {
  EXPECT_EQ(quote("npx"), "npx");
  EXPECT_EQ(quote("10m"), "10m");
  EXPECT_EQ(quote(""), "\"\"");
  EXPECT_EQ(quote("null"), "\"null\"");
  EXPECT_EQ(quote("-y"), "\"-y\"");
  EXPECT_EQ(quote("a: b"), "\"a: b\"");
  EXPECT_EQ(quote("say \"x\"\n\x01"), "\"say \\\"x\\\"\\n\\x01\"");
}

}  // namespace
}  // namespace switchgear::config
