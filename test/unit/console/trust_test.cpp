#include "console/trust.hpp"

#include <gtest/gtest.h>

namespace switchgear::console {
namespace {

const std::vector<std::string> none;

TEST(host_header, is_trusted_when_it_cannot_be_a_rebound_name) {
  for (const char* host :
       {"localhost", "LocalHost:9090", "127.0.0.1:9090", "127.8.9.1", "[::1]:9090", "[::1]", "10.1.2.3:9090", ""}) {
    EXPECT_TRUE(host_trusted(host, none)) << host;
  }
}

TEST(host_header, is_not_trusted_when_it_is_any_other_name) {
  for (const char* host :
       {"evil.example", "evil.example:9090", "localhost.evil.example", "127.0.0.1.evil.example", "localhost:9090:1",
        "localhost:", "localhost:x", "[::1", "[::1]x", "127.0.0.1@evil", "::1", "[evil.example]:9090", " localhost"}) {
    EXPECT_FALSE(host_trusted(host, none)) << host;
  }
}

TEST(host_header, is_trusted_when_the_operator_allows_it) {
  EXPECT_TRUE(host_trusted("Gate.Example:9090", {"other", "gate.example"}));
  EXPECT_TRUE(host_trusted("gate.example", {"gate.example:9090"}));
  EXPECT_TRUE(host_trusted("anything", {"*"}));
  EXPECT_FALSE(host_trusted("gate.example.evil", {"gate.example"}));
}

TEST(origin_header, is_trusted_when_absent_or_from_this_machine) {
  for (const char* origin : {"", "http://localhost:3000", "https://127.0.0.1", "http://[::1]:9090"}) {
    EXPECT_TRUE(origin_trusted(origin, "localhost:9090", none)) << origin;
  }
  EXPECT_TRUE(origin_trusted("http://10.1.2.3:9090", "10.1.2.3:9090", none));
  EXPECT_TRUE(origin_trusted("https://gate.example", "localhost", {"gate.example"}));
}

TEST(origin_header, is_not_trusted_when_foreign) {
  for (const char* origin : {"null", "http://evil.example", "http://10.9.9.9", "file://", "https://", "localhost",
                             "http://localhost.evil.example", "http://"}) {
    EXPECT_FALSE(origin_trusted(origin, "localhost:9090", none)) << origin;
  }
}

}  // namespace
}  // namespace switchgear::console
