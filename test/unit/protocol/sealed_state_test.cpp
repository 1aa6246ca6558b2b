#include "protocol/sealed_state.hpp"

#include "protocol/errc.hpp"

#include <gtest/gtest.h>

#include <string>

namespace switchgear::protocol {
namespace {

using namespace std::chrono_literals;

constexpr seal_key key{7, 7, 7};
constexpr seal_nonce nonce{1, 2, 3};
constexpr std::chrono::sys_seconds now{1'800'000'000s};
constexpr state_owner owner{"tools/call", "files__read", "ann"};

std::string sealed(std::string inner = R"("st\u0061te")") {
  return seal_state(key, nonce, owner, {"files", now + 600s, std::move(inner)});
}

TEST(sealed_state, gives_back_the_upstream_and_its_own_state_as_it_was) {
  const auto opened = open_state(key, owner, sealed(), now);

  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->upstream, "files");
  EXPECT_EQ(opened->inner, R"("st\u0061te")");
  EXPECT_EQ(opened->expires, now + 600s);
}

TEST(sealed_state, pins_a_call_whose_upstream_gave_no_state) {
  EXPECT_EQ(open_state(key, owner, sealed(""), now)->inner, "");
}

TEST(sealed_state, opens_for_its_own_request_alone) {
  for (const state_owner& other :
       {state_owner{"prompts/get", "files__read", "ann"}, state_owner{"tools/call", "files__write", "ann"},
        state_owner{"tools/call", "files__read", "bob"}, state_owner{"tools/call", "files__read", ""},
        state_owner{"tools/callfiles__read", "", "ann"}}) {
    EXPECT_EQ(open_state(key, other, sealed(), now).error(), errc::bad_state);
  }
  EXPECT_EQ(open_state(seal_key{}, owner, sealed(), now).error(), errc::bad_state);
}

TEST(sealed_state, expires) {
  EXPECT_TRUE(open_state(key, owner, sealed(), now + 599s));
  EXPECT_EQ(open_state(key, owner, sealed(), now + 600s).error(), errc::expired);
}

TEST(sealed_state, opens_after_no_change_of_any_byte) {
  const std::string good = sealed();
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string changed = good;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_EQ(open_state(key, owner, changed, now).error(), errc::bad_state) << i;
  }
  EXPECT_EQ(open_state(key, owner, "", now).error(), errc::bad_state);
}

TEST(sealed_state, opens_no_other_text_that_was_sealed_with_its_key) {
  EXPECT_EQ(open_state(key, owner, seal(key, nonce, "another purpose", std::string(40, 'x')), now).error(),
            errc::bad_state);
}

}  // namespace
}  // namespace switchgear::protocol
