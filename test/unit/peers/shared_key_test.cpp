// The secret of a fleet: who brings it, who follows, and what becomes of it in a store that was emptied.
#include "peers/redis/shared_key.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchgear::peers::redis {
namespace {

using namespace std::chrono_literals;
using kind = enum response::kind;

constexpr time_point start = time_point() + 1000s;
constexpr duration memory = 30min;
using commands = std::vector<command>;
const std::string mine(shared_key::size, 'm'), theirs(shared_key::size, 't');

response text(std::string said) {
  return {kind::text, std::move(said), 0, {}};
}
response number(std::int64_t said) {
  return {kind::number, {}, said, {}};
}
const response ok = text("OK");
const response nil = {kind::nil, {}, 0, {}};

const command bring_mine = {"SET", "cb:{fleet}:key", mine, "NX"};
const command bring_theirs = {"SET", "cb:{fleet}:key", theirs, "NX"};
const command mark = {"SET", "cb:{fleet}:emptied", "1", "PX", "1800000"};
const command look = {"GET", "cb:{fleet}:key"};

std::vector<command> asked(shared_key& key, time_point now = start) {
  EXPECT_TRUE(key.due(now));
  std::vector<command> words;
  for (const routed& each : key.ask(memory, now)) {
    EXPECT_EQ(each.slot, slot_of("{fleet}"));
    words.push_back(each.words);
  }
  return words;
}

TEST(shared_key, is_brought_by_whoever_comes_first) {
  shared_key key("cb", mine);
  EXPECT_EQ(asked(key), (commands{bring_mine, look}));
  EXPECT_EQ(key.known(), "");
  EXPECT_TRUE(key.hear({ok, text(mine)}));
  EXPECT_EQ(key.known(), mine);
  EXPECT_EQ(asked(key, start + 1s), commands{look}) << "a store that is new has lost nothing";
}

TEST(shared_key, is_taken_by_whoever_comes_later) {
  shared_key key("cb", mine);
  asked(key);
  EXPECT_TRUE(key.hear({nil, text(theirs)}));
  EXPECT_EQ(key.known(), theirs);
}

TEST(shared_key, is_brought_again_when_the_store_did_not_take_it) {
  shared_key key("cb", mine);
  asked(key);
  EXPECT_FALSE(key.hear({{kind::error, "OOM", 0, {}}, nil}));
  EXPECT_FALSE(key.due(start + shared_key::look_every - 1ns));
  EXPECT_EQ(asked(key, start + shared_key::look_every), (commands{bring_mine, look}));
}

/// Knows the others' secret.
struct shared_key_that_is_known : testing::Test {
  shared_key_that_is_known() {
    asked(key);
    key.hear({nil, text(theirs)});
  }
  shared_key key{"cb", mine};
};

TEST_F(shared_key_that_is_known, is_looked_at_again_and_again) {
  EXPECT_FALSE(key.due(start + shared_key::look_every - 1ns));
  EXPECT_EQ(asked(key, start + shared_key::look_every), commands{look});
  EXPECT_FALSE(key.hear({text(theirs)}));
  EXPECT_FALSE(key.due(start + shared_key::look_every));
}

TEST_F(shared_key_that_is_known, is_looked_at_at_once_on_a_new_connection) {
  key.look_again();
  EXPECT_EQ(asked(key), commands{look});
}

TEST_F(shared_key_that_is_known, is_put_back_behind_a_mark_where_it_was_lost) {
  asked(key, start + 1s);
  EXPECT_FALSE(key.hear({nil}));
  EXPECT_EQ(asked(key, start + 1s), (commands{mark, bring_theirs, look}));
  EXPECT_FALSE(key.hear({ok, ok, text(theirs)}));
  EXPECT_EQ(asked(key, start + 2s), commands{look});
}

TEST_F(shared_key_that_is_known, is_put_back_without_haste_into_a_store_that_does_not_take_it) {
  const response full = {kind::error, "OOM command not allowed", 0, {}};
  asked(key, start + 1s);
  key.hear({nil});
  asked(key, start + 1s);
  key.hear({full, full, nil});
  EXPECT_FALSE(key.due(start + 1s));
  EXPECT_EQ(asked(key, start + 2s), (commands{mark, bring_theirs, look}));
}

TEST_F(shared_key_that_is_known, is_marked_as_lost_until_the_store_has_heard_it) {
  asked(key, start + 1s);
  key.hear({nil});
  asked(key, start + 1s);
  EXPECT_FALSE(key.hear({{}, {}, {}}));
  EXPECT_EQ(asked(key, start + 2s), (commands{mark, bring_theirs, look}));
  EXPECT_FALSE(key.hear({{}, {}, text(theirs)}));
  EXPECT_EQ(asked(key, start + 3s).front(), mark);
}

TEST_F(shared_key_that_is_known, gives_way_to_one_that_was_put_in_its_place) {
  asked(key, start + 1s);
  EXPECT_TRUE(key.hear({text(mine)}));
  EXPECT_EQ(key.known(), mine);
  EXPECT_EQ(asked(key, start + 1s), (commands{mark, bring_mine, look})) << "all else is missing, too";
  EXPECT_FALSE(key.hear({ok, nil, text(mine)}));
  EXPECT_EQ(asked(key, start + 2s), commands{look});
}

TEST_F(shared_key_that_is_known, is_not_given_up_for_something_that_is_no_secret) {
  for (const response& each : {response{}, text(""), text("short"), text(mine + "x"),
                               response{kind::error, mine, 0, {}}, response{kind::list, mine, 0, {}}}) {
    EXPECT_FALSE(key.hear({each}));
    EXPECT_EQ(key.known(), theirs);
  }
  EXPECT_EQ(asked(key, start + 1s), commands{look});
}

TEST_F(shared_key_that_is_known, tells_whether_something_was_lost) {
  const auto questions = key.ask_for_losses();
  ASSERT_EQ(questions.size(), 2u);
  EXPECT_EQ(questions[0].words, (command{"EXISTS", "cb:{fleet}:key"}));
  EXPECT_EQ(questions[1].words, (command{"EXISTS", "cb:{fleet}:emptied"}));
  EXPECT_TRUE(shared_key::nothing_lost(number(1), number(0)));
  EXPECT_FALSE(shared_key::nothing_lost(number(0), number(0)));
  EXPECT_FALSE(shared_key::nothing_lost(number(1), number(1)));
  EXPECT_FALSE(shared_key::nothing_lost({}, number(0)));
  EXPECT_FALSE(shared_key::nothing_lost(number(1), {}));
}

}  // namespace
}  // namespace switchgear::peers::redis
