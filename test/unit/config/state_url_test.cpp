#include "config/state_url.hpp"

#include <gtest/gtest.h>

namespace switchgear::config {
namespace {

using layout = port::redis_settings::layout;

TEST(a_redis_url, names_one_host_and_a_database) {
  const auto made = parse_redis_url("redis://h:7000/3");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->shape, layout::single);
  EXPECT_FALSE(made->tls);
  ASSERT_EQ(made->hosts.size(), 1u);
  EXPECT_EQ(made->hosts[0], (port::redis_settings::host{"h", 7000}));
  EXPECT_EQ(made->database, 3u);
}

TEST(a_redis_url, has_the_usual_port_of_what_it_names) {
  EXPECT_EQ(parse_redis_url("redis://[::1]")->hosts[0], (port::redis_settings::host{"::1", 6379}));
  EXPECT_EQ(parse_redis_url("redis+sentinel://a,b:1/main")->hosts[0].port, 26379);
  EXPECT_EQ(parse_redis_url("redis+sentinel://a,b:1/main")->hosts[1].port, 1);
  EXPECT_EQ(parse_redis_url("redis+sentinel://a,b:1/main")->master, "main");
  EXPECT_EQ(parse_redis_url("rediss+cluster://a,b,c")->hosts.size(), 3u);
}

TEST(a_redis_url, may_carry_a_user_and_a_password_with_escapes) {
  const auto made = parse_redis_url("rediss://gate%40way:p%3Aq@h");
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->tls);
  EXPECT_EQ(made->user, "gate@way");
  EXPECT_EQ(made->password, "p:q");
  EXPECT_EQ(parse_redis_url("redis://:secret@h")->password, "secret");
}

TEST(a_wrong_redis_url, never_shows_its_password) {
  for (const char* url :
       {"redis://u:geheim@h:99999", "redis://u:geheim%zz@h", "redis://u:geheim@h/x", "foo://u:geheim@h"}) {
    const auto made = parse_redis_url(url);
    ASSERT_FALSE(made) << url;
    EXPECT_EQ(made.error().find("geheim"), std::string::npos) << made.error();
  }
  EXPECT_EQ(shown_state("redis://u:geheim@h/0"), "redis://u:***@h/0");
  EXPECT_EQ(shown_state("memory"), "memory");
}

}  // namespace
}  // namespace switchgear::config
