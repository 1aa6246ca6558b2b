// What the library adds to the authority's rules: repeats, quorum, and putting together what two sides know.
#include "sim/board/pair.hpp"

#include <gtest/gtest.h>

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
    peers::redis::question asked{entry, at_, instance, sequence, false, known, 0.5};
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

TEST(an_address, has_one_hash_tag_for_all_of_a_server) {
  const peers::redis::address tool("cb1", "search__query"), server("cb1", "server:search");
  EXPECT_EQ(tool.state, "cb1:{search}:s:search__query");
  EXPECT_EQ(server.probes, "cb1:{search}:p:server:search");
  EXPECT_EQ(tool.channel, server.channel);
}

}  // namespace
}  // namespace switchgear::sim
