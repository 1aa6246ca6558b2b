#include "call/states.hpp"

#include "protocol/errc.hpp"
#include "support/nonces.hpp"

#include <gtest/gtest.h>

namespace switchgear::call {
namespace {

struct here_states : states {
  explicit here_states(unsigned char own = 1) : states({own}, &test::counted_nonce) {}
};

const protocol::state_owner owner{"tools/call", "search__query", "ada"};

TEST(a_sealed_state, comes_back_with_the_server_that_asked) {
  here_states here;
  const auto token = here.seal(owner, "search", R"({"n":1.0})");
  ASSERT_TRUE(token);
  EXPECT_EQ(token->find("n\""), std::string::npos);
  const auto opened = here.open(owner, *token);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->upstream, "search");
  EXPECT_EQ(opened->inner, R"({"n":1.0})");
}

TEST(a_sealed_state, opens_for_nobody_and_nothing_else) {
  here_states here;
  const std::string token = here.seal(owner, "search", "1").value();
  EXPECT_EQ(here.open({"tools/call", "search__query", "bob"}, token).error(), protocol::errc::bad_state);
  EXPECT_EQ(here.open({"tools/call", "search__other", "ada"}, token).error(), protocol::errc::bad_state);
  EXPECT_EQ(here.open({"prompts/get", "search__query", "ada"}, token).error(), protocol::errc::bad_state);
  EXPECT_EQ(here_states(2).open(owner, token).error(), protocol::errc::bad_state);
  for (const char* rubbish : {"", "1", "null", "\"\"", "\"x\"", "{}"}) {
    EXPECT_EQ(here.open(owner, rubbish).error(), protocol::errc::bad_state) << rubbish;
  }
}

TEST(a_sealed_state, opens_at_every_gateway_with_the_same_secret) {
  here_states one(1), other(2);
  one.use("a secret of the whole fleet");
  other.use("a secret of the whole fleet");
  EXPECT_TRUE(other.open(owner, one.seal(owner, "search", "1").value()));
}

TEST(a_sealed_state, outlives_one_change_of_the_secret) {
  here_states here;
  const std::string token = here.seal(owner, "search", "1").value();
  here.use("first");
  here.use("first");
  EXPECT_TRUE(here.open(owner, token));
  here.use("second");
  EXPECT_FALSE(here.open(owner, token));
}

}  // namespace
}  // namespace switchgear::call
