#include "listen/origin.hpp"

#include <gtest/gtest.h>

namespace switchgear::listen {
namespace {

TEST(host, is_allowed_for_this_machine) {
  for (const char* host : {"localhost", "localhost:8080", "LOCALHOST", "127.0.0.1", "127.0.0.1:80", "127.1.2.3:9",
                           "[::1]", "[::1]:8080"}) {
    EXPECT_TRUE(host_allowed(host, {})) << host;
  }
}

TEST(host, is_refused_for_names_that_only_look_like_it) {
  for (const char* host : {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "127.evil", "[::2]",
                           "[::1", "10.0.0.1"}) {
    EXPECT_FALSE(host_allowed(host, {})) << host;
  }
}

TEST(host, is_allowed_when_the_operator_names_it) {
  EXPECT_TRUE(host_allowed("gateway.internal:8080", {"gateway.internal"}));
  EXPECT_TRUE(host_allowed("gateway.internal:8080", {"gateway.internal:8080"}));
  EXPECT_FALSE(host_allowed("gateway.internal:8081", {"gateway.internal:8080"}));
  EXPECT_TRUE(host_allowed("anything", {"*"}));
}

TEST(origin, is_allowed_when_absent_local_or_named) {
  EXPECT_TRUE(origin_allowed("", {}));
  EXPECT_TRUE(origin_allowed("http://localhost:3000", {}));
  EXPECT_TRUE(origin_allowed("http://127.0.0.1", {}));
  EXPECT_TRUE(origin_allowed("https://app.example", {"https://app.example"}));
}

TEST(origin, is_refused_otherwise) {
  for (const char* origin : {"null", "http://evil.example", "http://localhost.evil.example", "https://app.example:8"}) {
    EXPECT_FALSE(origin_allowed(origin, {"https://app.example"})) << origin;
  }
}

}  // namespace
}  // namespace switchgear::listen
