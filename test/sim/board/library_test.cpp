// What the library adds to the authority's rules: repeats, quorum, and putting together what two sides know.
#include "sim/board/pair.hpp"
#include "sim/dice.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace switchgear::sim {
namespace {

using peers::redis::answer;

/// A fleet of instances on one Redis, with a clock of its own.
class the_library : public testing::Test {
 protected:
  the_library() { load_library(redis_); }

  std::string raw(std::string_view instance, std::uint64_t sequence, const breaker::report& said,
                  peers::redis::standing known = {}) {
    port::board_entry entry;
    entry.name = "search__query";
    entry.settings = &settings_;
    entry.said = said;
    peers::redis::question asked{entry, at_, instance, sequence};
    asked.put_settings = put_;
    asked.settings_version = version_;
    asked.roster = roster_;
    asked.known = known;
    asked.random = 0.5;
    peers::redis::command words = peers::redis::words(asked);
    words.push_back(std::to_string(now_ += 10'000));
    return redis_.ask(words);
  }
  answer ask(std::string_view instance, std::uint64_t sequence, const breaker::report& said,
             peers::redis::standing known = {}) {
    const std::string text = raw(instance, sequence, said, known);
    const auto made = peers::redis::read(text, settings_);
    EXPECT_TRUE(made) << text;
    return made.value_or(answer());
  }

  static breaker::report calls(std::uint64_t good, std::uint64_t bad) {
    breaker::report said;
    said.batch.counts.calls = said.batch.counts.timed = good + bad;
    said.batch.counts.failures = said.batch.trailing = bad;
    return said;
  }

  test::redis_server server_;
  redis_connection redis_{server_.socket()};
  peers::redis::address at_{"cb1", "search__query"};
  breaker::settings settings_;
  std::uint32_t version_ = 0;
  bool put_ = false;
  bool roster_ = false;
  std::uint64_t now_ = 1'700'000'000'000'000;
};

TEST_F(the_library, counts_a_repeated_flush_once) {
  ask("a", 1, calls(5, 0));
  const answer again = ask("a", 1, calls(5, 0));
  EXPECT_EQ(again.reply.figures.counts.calls, 5u);
  EXPECT_EQ(ask("a", 2, calls(5, 0)).reply.figures.counts.calls, 10u);
}

TEST_F(the_library, does_not_believe_one_of_three_alone) {
  // given
  ask("a", 1, calls(5, 0));
  ask("b", 1, calls(5, 0));
  // when
  const answer said = ask("c", 1, calls(0, 12));
  // then
  EXPECT_EQ(said.reply.view.state, breaker::state::closed);
  EXPECT_TRUE(said.alone);
  EXPECT_FALSE(ask("a", 2, calls(1, 0)).alone);
}

TEST_F(the_library, believes_two_of_three) {
  ask("a", 1, calls(5, 0));
  ask("b", 1, calls(5, 0));
  ask("c", 1, calls(0, 6));
  const answer said = ask("b", 2, calls(0, 6));
  EXPECT_EQ(said.reply.view.state, breaker::state::open);
  EXPECT_EQ(said.reply.figures.last_cause, breaker::cause::outage);
  EXPECT_EQ(said.replicas, 1u) << "counted once a second";
}

TEST_F(the_library, needs_as_many_witnesses_as_the_quorum_says) {
  // given
  settings_.quorum = 3;
  for (const char* const each : {"a", "b", "c", "d"}) ask(each, 1, calls(5, 0));
  // then
  ask("a", 2, calls(0, 6));
  EXPECT_EQ(ask("b", 2, calls(0, 6)).reply.view.state, breaker::state::closed);
  EXPECT_EQ(ask("c", 2, calls(0, 1)).reply.view.state, breaker::state::open);
}

TEST_F(the_library, lets_one_open_for_all_where_the_quorum_is_one) {
  settings_.quorum = 1;
  ask("a", 1, calls(5, 0));
  ask("b", 1, calls(5, 0));
  EXPECT_EQ(ask("c", 1, calls(0, 12)).reply.view.state, breaker::state::open);
}

TEST_F(the_library, takes_over_what_a_lost_store_has_forgotten) {
  // given
  breaker::report idle;
  idle.generation = 7;
  // when
  const answer said = ask("a", 1, idle, {7, breaker::state::open, std::chrono::seconds(12)});
  // then
  EXPECT_EQ(said.reply.view.state, breaker::state::open);
  EXPECT_EQ(said.reply.view.generation, 7u);
  EXPECT_EQ(said.reply.view.retry_after, std::chrono::seconds(12));
}

TEST_F(the_library, takes_over_the_operator_s_word_with_the_state) {
  // given
  breaker::report idle;
  idle.generation = 7;
  const peers::redis::standing forced{7,     breaker::state::open,     std::chrono::seconds(30), true,
                                      false, std::chrono::seconds(100)};
  // when
  const answer said = ask("a", 1, idle, forced);
  // then
  EXPECT_TRUE(said.reply.view.forced);
  EXPECT_EQ(said.reply.view.hold, std::chrono::seconds(100));
  now_ += 60'000'000;
  breaker::report wishes;
  wishes.generation = 7;
  wishes.want = 3;
  EXPECT_TRUE(ask("b", 1, wishes).reply.leases.empty()) << "its cooldown would be over";
  now_ += 60'000'000;
  EXPECT_EQ(ask("b", 2, wishes).reply.view.state, breaker::state::half_open) << "the word has ended";
}

TEST_F(the_library, takes_over_observe_mode_that_has_no_end) {
  const answer said = ask("a", 1, {}, {3, breaker::state::closed, {}, false, true, duration::max()});
  EXPECT_EQ(said.reply.view.mode, breaker::mode::observe);
  EXPECT_EQ(said.reply.view.hold, duration::max());
}

TEST_F(the_library, does_not_take_over_a_state_that_its_mode_does_not_have) {
  settings_.mode = breaker::mode::disabled;
  const answer said = ask("a", 1, {}, {3, breaker::state::open, std::chrono::seconds(30)});
  EXPECT_EQ(said.reply.view.state, breaker::state::closed);
  EXPECT_EQ(said.reply.view.generation, 4u);
}

TEST_F(the_library, writes_nothing_when_a_key_is_somebody_else_s) {
  for (const std::string& key : {at_.window, at_.instances, at_.probes}) {
    redis_.ask({"FLUSHALL"});
    redis_.ask({"SET", key, "mine"});
    EXPECT_TRUE(raw("a", 1, calls(0, 12), {3, breaker::state::open, {}}).find("WRONGTYPE") != std::string::npos) << key;
    EXPECT_EQ(redis_.ask({"DBSIZE"}), "1") << key;
    EXPECT_EQ(redis_.ask({"GET", key}), "mine");
  }
}

TEST_F(the_library, keeps_its_state_above_the_generation_of_one_that_was_alone) {
  // given
  ask("a", 1, calls(5, 0));
  breaker::report alone;
  alone.generation = 3;
  // when
  const answer said = ask("b", 1, alone, {0, breaker::state::open, std::chrono::seconds(12)});
  // then
  EXPECT_EQ(said.reply.view.state, breaker::state::closed);
  EXPECT_EQ(said.reply.view.generation, 4u);
}

TEST_F(the_library, goes_on_above_a_generation_that_both_reached_by_themselves) {
  // given
  ask("a", 1, calls(0, 9));
  breaker::report alone;
  alone.generation = 1;
  // when
  const answer said = ask("b", 1, alone, {0, breaker::state::half_open, {}});
  // then
  EXPECT_EQ(said.reply.view.state, breaker::state::open);
  EXPECT_EQ(said.reply.view.generation, 2u);
}

TEST_F(the_library, tells_who_contributed_what_when_asked) {
  // given
  ask("a", 1, calls(5, 0));
  ask("b", 1, calls(3, 2));
  ask("idle", 1, {});
  EXPECT_TRUE(ask("a", 2, {}).reply.contributions.empty());
  // when
  roster_ = true;
  auto said = ask("a", 3, {}).reply.contributions;
  // then
  std::ranges::sort(said, {}, &breaker::contribution::replica);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0].replica, "a");
  EXPECT_EQ(said[0].counts.calls, 5u);
  EXPECT_EQ(said[1].replica, "b");
  EXPECT_EQ(said[1].counts.calls, 5u);
  EXPECT_EQ(said[1].counts.failures, 2u);
  EXPECT_EQ(said[1].heard, std::chrono::milliseconds(30));
}

TEST_F(the_library, goes_by_the_settings_of_the_newest_version) {
  // given
  put_ = true;
  version_ = 2;
  settings_.error_rate = 0.5;
  EXPECT_FALSE(ask("new", 1, {}).reply.other_settings);
  // when: a replica with the old file starts, and one with the same version changes its mind
  version_ = 1;
  settings_.error_rate = 0.1;
  EXPECT_TRUE(ask("old", 1, {}).reply.other_settings);
  version_ = 2;
  settings_.error_rate = 0.3;
  EXPECT_FALSE(ask("newer", 1, {}).reply.other_settings);
  // then: what was told first of the highest version holds until somebody of that version tells something else
  put_ = false;
  settings_.error_rate = 0.5;
  EXPECT_TRUE(ask("new", 2, {}).reply.other_settings);
  EXPECT_NE(redis_.ask({"HGET", at_.state, "settings"}).find(" 0.29999"), std::string::npos);
}

TEST_F(the_library, takes_over_settings_of_a_higher_version_that_nobody_puts) {
  ask("old", 1, {});
  version_ = 3;
  settings_.error_rate = 0.5;
  EXPECT_FALSE(ask("new", 1, {}).reply.other_settings) << "the key was lost after it had put them";
}

TEST_F(the_library, leaves_keys_of_a_newer_layout_alone) {
  redis_.ask({"HSET", at_.state, "v", "2", "state", "other"});
  EXPECT_TRUE(raw("a", 1, calls(5, 0)).starts_with("!SWITCHGEARNEWER"));
  EXPECT_EQ(redis_.ask({"HGET", at_.state, "state"}), "other");
}

TEST_F(the_library, gives_every_key_a_time_to_live) {
  ask("a", 1, calls(5, 1));
  for (const std::string& key : {at_.state, at_.window, at_.instances}) {
    EXPECT_GT(std::stoll(redis_.ask({"TTL", key})), 60) << key;
  }
}

TEST_F(the_library, is_not_understood_when_its_answer_is_cut_short) {
  // given
  settings_.quorum = 1;
  roster_ = true;
  const std::string whole = raw("a", 1, calls(0, 12));
  ASSERT_TRUE(peers::redis::read(whole, settings_));
  // then
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(peers::redis::read(std::string_view(whole).substr(0, size), settings_)) << size;
  }
  EXPECT_FALSE(peers::redis::read(whole + '\0', settings_));
}

TEST_F(the_library, may_answer_anything_without_harm) {
  // given
  roster_ = true;
  const std::string whole = raw("a", 1, calls(3, 12));
  dice random(20261129);
  // then: what is taken for an answer is within the limits of one
  for (int round = 0; round < 20'000; ++round) {
    std::string other = whole;
    for (std::uint64_t i = 0; i <= random.below(3); ++i) {
      other[random.below(other.size())] = static_cast<char>(random.below(256));
    }
    const auto made = peers::redis::read(other, settings_);
    if (!made) continue;
    EXPECT_LE(made->reply.leases.size(), 64u);
    EXPECT_LE(made->reply.view.ramp, 3);
    EXPECT_LE(made->reply.view.state, breaker::state::half_open);
    EXPECT_GE(made->reply.view.retry_after, duration::zero());
  }
}

TEST(an_address, has_one_hash_tag_for_all_of_a_server) {
  const peers::redis::address tool("cb1", "search__query"), server("cb1", "server:search");
  EXPECT_EQ(tool.state, "cb1:{search}:s:search__query");
  EXPECT_EQ(server.probes, "cb1:{search}:p:server:search");
  EXPECT_EQ(tool.channel, server.channel);
}

}  // namespace
}  // namespace switchgear::sim
