#include "upstream/url.hpp"

#include "upstream/errc.hpp"

#include <gtest/gtest.h>

namespace switchgear::upstream {
namespace {

TEST(url, gives_the_parts_that_a_request_needs) {
  const auto read = read_url("http://127.0.0.1:9001/mcp?key=1");
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->tls);
  EXPECT_EQ(read->host, "127.0.0.1");
  EXPECT_EQ(read->port, 9001);
  EXPECT_EQ(read->authority, "127.0.0.1:9001");
  EXPECT_EQ(read->target, "/mcp?key=1");
}

TEST(url, knows_the_standard_ports_and_the_root) {
  EXPECT_EQ(read_url("https://tools.example")->port, 443);
  EXPECT_EQ(read_url("https://tools.example")->authority, "tools.example");
  EXPECT_EQ(read_url("https://tools.example")->target, "/");
  EXPECT_EQ(read_url("http://tools.example:80/x")->authority, "tools.example");
}

TEST(url, writes_an_ipv6_address_with_and_without_brackets_where_they_belong) {
  const auto read = read_url("http://[::1]:9001/mcp");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->host, "::1");
  EXPECT_EQ(read->authority, "[::1]:9001");
}

TEST(url, refuses_what_is_no_address_of_a_server) {
  for (const char* text : {"", "tools.example", "ftp://x/", "http://", "http:///mcp", "http://user:pw@x/",
                           "http://x/#part", "http://x:0/", "http://x:99999/", "http://x y/", "http://x/\r\nHost: y"}) {
    EXPECT_EQ(read_url(text).error(), errc::bad_url) << text;
  }
}

}  // namespace
}  // namespace switchgear::upstream
