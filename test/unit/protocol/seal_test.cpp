#include "protocol/seal.hpp"

#include <gtest/gtest.h>

#include <string>

namespace switchgear::protocol {
namespace {

seal_key key_of(unsigned char first) {
  seal_key key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<unsigned char>(first + i);
  return key;
}

constexpr seal_nonce nonce{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

TEST(sealed_text, opens_with_the_same_key_and_context) {
  for (const std::string& text : {std::string(), std::string("a"), std::string("a\0b", 3), std::string(100'000, 'x')}) {
    const std::string sealed = seal(key_of(1), nonce, "for this", text);
    EXPECT_EQ(open_sealed(key_of(1), "for this", sealed), text);
  }
}

// Test case 14 of the submission of GCM to NIST: key, nonce and text of nothing but zeros.
TEST(sealed_text, is_what_other_implementations_make) {
  EXPECT_EQ(seal(seal_key{}, seal_nonce{}, "", std::string(16, '\0')),
            "AAAAAAAAAAAAAAAAzqdAPU1ga24HTsXTuvOdGNDRyKeZmWvwJluYtdSKuRk");
}

TEST(sealed_text, opens_for_nobody_else) {
  const std::string sealed = seal(key_of(1), nonce, "for this", "secret");
  EXPECT_FALSE(open_sealed(key_of(2), "for this", sealed));
  EXPECT_FALSE(open_sealed(key_of(1), "for that", sealed));
  EXPECT_FALSE(open_sealed(key_of(1), "", sealed));
}

TEST(sealed_text, hides_what_it_says) {
  const std::string sealed = seal(key_of(1), nonce, "", std::string(300, 'a'));
  EXPECT_EQ(sealed.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"),
            std::string::npos);
  EXPECT_EQ(sealed.find("YWFh"), std::string::npos);
}

TEST(sealed_text, does_not_open_after_any_change) {
  const std::string sealed = seal(key_of(1), nonce, "for this", "a text of some length");
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    for (char other : {'A', 'B', '_', '=', '\0', ' '}) {
      if (sealed[i] == other) continue;
      std::string changed = sealed;
      changed[i] = other;
      EXPECT_FALSE(open_sealed(key_of(1), "for this", changed)) << i << " " << other;
    }
    EXPECT_FALSE(open_sealed(key_of(1), "for this", sealed.substr(0, i))) << i;
    EXPECT_FALSE(open_sealed(key_of(1), "for this", sealed.substr(i + 1))) << i;
  }
  EXPECT_FALSE(open_sealed(key_of(1), "for this", sealed + "A"));
  EXPECT_FALSE(open_sealed(key_of(1), "for this", sealed + sealed));
}

TEST(sealed_text, is_not_even_read_above_its_limit) {
  const std::string large = seal(key_of(1), nonce, "", std::string(longest_sealed, 'x'));
  EXPECT_FALSE(open_sealed(key_of(1), "", large));
}

}  // namespace
}  // namespace switchgear::protocol
