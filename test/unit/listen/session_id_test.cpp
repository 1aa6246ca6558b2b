#include "listen/session_id.hpp"

#include "listen/session_keys.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace switchgear::listen {
namespace {

const std::string key(32, 'k');
const session_salt salt{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

session_facts some_facts() {
  return {.revision = "2025-06-18",
          .abilities = {.roots = true, .sampling = true, .elicitation_url = true},
          .issued = 1'780'000'000,
          .principal = digest_of("somebody")};
}

TEST(a_session_id, says_to_whoever_has_the_key_what_was_sealed_in_it) {
  const auto id = seal_session(some_facts(), salt, key);
  ASSERT_TRUE(id);
  EXPECT_EQ(open_session(*id, key), some_facts());
}

TEST(a_session_id, is_visible_ascii_of_one_size) {
  const auto id = seal_session({.revision = "2025-03-26"}, salt, key);
  EXPECT_EQ(id->size(), session_id_size);
  for (char letter : *id) EXPECT_TRUE(letter > ' ' && letter <= '~') << letter;
}

TEST(a_session_id, is_refused_with_any_letter_changed) {
  const std::string id = *seal_session(some_facts(), salt, key);
  for (std::size_t i = 0; i < id.size(); ++i) {
    for (char other : {'A', 'B', '_', '+', '\0'}) {
      std::string changed = id;
      if (changed[i] == other) continue;
      changed[i] = other;
      EXPECT_FALSE(open_session(changed, key)) << i;
    }
  }
}

TEST(a_session_id, is_refused_in_another_size_or_under_another_key) {
  const std::string id = *seal_session(some_facts(), salt, key);
  EXPECT_FALSE(open_session(id.substr(1), key));
  EXPECT_FALSE(open_session(id + "A", key));
  EXPECT_FALSE(open_session("", key));
  EXPECT_FALSE(open_session(id, std::string(32, 'x')));
}

TEST(principals, have_digests_of_their_own_and_the_anonymous_one_has_none) {
  EXPECT_EQ(digest_of(""), 0u);
  EXPECT_NE(digest_of("a"), digest_of("b"));
}

TEST(session_keys, seal_ids_that_never_repeat) {
  const session_keys keys({});
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(*keys.seal(some_facts()));
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(session_keys, are_shared_once_the_fleet_has_named_one) {
  session_keys keys({});
  EXPECT_FALSE(keys.shared());
  keys.use(key);
  EXPECT_TRUE(keys.shared());
  EXPECT_EQ(keys.open(*seal_session(some_facts(), salt, key)), some_facts());
}

TEST(session_keys, read_ids_of_the_key_before_and_of_none_before_that) {
  session_keys keys({});
  const std::string first = *keys.seal(some_facts());
  keys.use(std::string(32, 'a'));
  EXPECT_TRUE(keys.open(first));
  const std::string second = *keys.seal(some_facts());
  keys.use(std::string(32, 'b'));
  EXPECT_FALSE(keys.open(first));
  EXPECT_TRUE(keys.open(second));
  keys.use(std::string(32, 'b'));  // the same again is no change
  EXPECT_TRUE(keys.open(second));
}

TEST(session_keys, hold_to_the_operators_word_against_the_fleets) {
  session_keys here("a secret of the operator"), there("a secret of the operator"), other("another one");
  EXPECT_TRUE(here.shared());
  here.use(key);
  const std::string id = *here.seal(some_facts());
  EXPECT_EQ(there.open(id), some_facts());
  EXPECT_FALSE(other.open(id));
}

}  // namespace
}  // namespace switchgear::listen
