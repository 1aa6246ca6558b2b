#include "peers/redis/ledger.hpp"

#include "unit/peers/redis_words.hpp"

#include <gtest/gtest.h>

namespace switchgear::peers::redis {
namespace {

using namespace std::chrono_literals;
using breaker::cause;
using breaker::state;

class a_ledger : public testing::Test {
 protected:
  static constexpr unsigned replicas = 4;

  port::board_entry entry(breaker::report said = {}) {
    port::board_entry made;
    made.name = "search__query";
    made.settings = &settings_;
    made.revision = revision_;
    made.said = std::move(said);
    return made;
  }
  static breaker::report calls(std::uint64_t good, std::uint64_t bad, std::uint64_t generation = 0) {
    breaker::report said;
    said.generation = generation;
    said.batch.counts.calls = said.batch.counts.timed = good + bad;
    said.batch.counts.failures = said.batch.trailing = bad;
    return said;
  }

  std::vector<question_words> ask(const port::board_entry& about) {
    std::vector<routed> commands;
    its_.ask(about, self_, now_, 0.5, commands);
    std::vector<question_words> words;
    for (const routed& each : commands) words.emplace_back(each.words);
    return words;
  }
  ledger::hearing hear(port::board_entry& about, std::vector<receipt> said) {
    return its_.hear(about, said, replicas, now_, 0.5);
  }
  /// A whole exchange.
  port::board_entry exchange(port::board_entry about, std::vector<receipt> said) {
    ask(about);
    hear(about, std::move(said));
    return about;
  }
  port::board_entry miss(port::board_entry about) {
    ask(about);
    its_.wait(about, now_);
    return about;
  }
  port::board_entry decide(port::board_entry about) {
    its_.decide(about, replicas, now_, 0.5);
    return about;
  }

  breaker::settings settings_;
  std::uint64_t revision_ = 1;
  time_point now_{1000h};
  sender self_{"me", 0, false};
  ledger its_{entry(), "cb1", now_};
};

// Shared.

TEST_F(a_ledger, gives_each_question_the_next_number) {
  EXPECT_EQ(ask(entry()).at(0).sequence, "1");
  EXPECT_EQ(ask(entry()).at(0).sequence, "2");
}

TEST_F(a_ledger, tells_settings_until_they_were_heard) {
  EXPECT_EQ(ask(entry()).at(0).put_settings, "1");
  exchange(entry(), {answer_words{}});
  EXPECT_EQ(ask(entry()).at(0).put_settings, "0");
  ++revision_;
  EXPECT_EQ(ask(entry()).at(0).put_settings, "1");
}

TEST_F(a_ledger, repeats_under_the_old_number_what_was_not_heard) {
  // given
  const port::board_entry missed = miss(entry(calls(3, 1)));
  EXPECT_EQ(missed.answer.view.generation, 0u);
  // when
  auto next = entry(calls(5, 0));
  const auto words = ask(next);
  // then
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words[0].sequence, "1");
  EXPECT_EQ(words[0].counts, "4 1 4 0 0 1");
  EXPECT_EQ(words[1].sequence, "2");
  EXPECT_EQ(words[1].counts, "5 0 5 0 0 0");
  hear(next, {answer_words{.calls = 4}, answer_words{.calls = 9}});
  EXPECT_EQ(next.answer.figures.counts.calls, 9u);
  EXPECT_EQ(ask(entry()).size(), 1u);
}

TEST_F(a_ledger, asks_for_no_probe_in_a_repeat) {
  breaker::report said;
  said.want = 3;
  miss(entry(said));
  EXPECT_EQ(ask(entry()).at(0).want, "0");
}

TEST_F(a_ledger, goes_on_as_before_while_it_waits) {
  // given
  exchange(entry(), {answer_words{.generation = 3, .state = state::open, .retry_after = 9'000'000}});
  // when
  now_ += 2s;
  const port::board_entry missed = miss(entry());
  // then
  EXPECT_EQ(missed.answer.view.state, state::open);
  EXPECT_EQ(missed.answer.view.generation, 3u);
  EXPECT_EQ(missed.answer.view.retry_after, duration(7s));
  EXPECT_TRUE(missed.answer.view.watch);
  EXPECT_TRUE(missed.answer.transitions.empty());
}

TEST_F(a_ledger, keeps_the_mode_of_its_settings_before_the_first_answer) {
  settings_.mode = breaker::mode::disabled;
  EXPECT_EQ(miss(entry()).answer.view.mode, breaker::mode::disabled);
}

TEST_F(a_ledger, tells_transitions_of_a_repeat) {
  miss(entry(calls(0, 9)));
  const auto said = exchange(entry(), {answer_words{.generation = 1, .state = state::open, .news = "0 1 1 2 0"},
                                       answer_words{.generation = 1, .state = state::open}});
  ASSERT_EQ(said.answer.transitions.size(), 1u);
  EXPECT_EQ(said.answer.transitions[0].cause, cause::outage);
}

TEST_F(a_ledger, tells_a_transition_that_another_replica_was_told) {
  exchange(entry(), {answer_words{}});
  const auto said = exchange(entry(), {answer_words{.generation = 1, .state = state::open}});
  ASSERT_EQ(said.answer.transitions.size(), 1u);
  EXPECT_EQ(said.answer.transitions[0].to, state::open);
}

TEST_F(a_ledger, tells_redis_what_it_saw_last) {
  exchange(entry(), {answer_words{.generation = 7, .state = state::open, .retry_after = 9'000'000}});
  now_ += 4s;
  EXPECT_EQ(ask(entry()).at(0).known, "7 1 5000000");
}

TEST_F(a_ledger, never_goes_back_to_an_older_generation) {
  exchange(entry(), {answer_words{.generation = 7, .state = state::open}});
  const auto said = exchange(entry(), {answer_words{.generation = 6}});
  EXPECT_EQ(said.answer.view.generation, 7u);
  EXPECT_EQ(said.answer.view.state, state::open);
}

TEST_F(a_ledger, asks_once_a_second_who_contributed) {
  EXPECT_EQ(ask(entry()).at(0).roster, "1");
  const auto said = exchange(entry(), {answer_words{.contributor = "other"}});
  ASSERT_EQ(said.answer.contributions.size(), 1u);
  EXPECT_EQ(said.answer.contributions[0].replica, "other");
  now_ += 900ms;
  EXPECT_EQ(ask(entry()).at(0).roster, "0");
  EXPECT_TRUE(exchange(entry(), {answer_words{}}).answer.contributions.empty());
  now_ += 100ms;
  EXPECT_EQ(ask(entry()).at(0).roster, "1");
}

TEST_F(a_ledger, stays_away_alone_from_what_only_it_sees_failing) {
  // when
  auto said = exchange(entry(calls(0, 9)), {answer_words{.alone = true, .replicas = 3}});
  // then
  EXPECT_EQ(said.answer.view.state, state::open);
  EXPECT_EQ(said.answer.view.generation, 0u);
  EXPECT_EQ(said.answer.view.retry_after, settings_.cooldown);
  now_ += settings_.cooldown - 1ms;
  EXPECT_EQ(exchange(entry(), {answer_words{}}).answer.view.state, state::open);
  now_ += 1ms;
  EXPECT_EQ(exchange(entry(), {answer_words{}}).answer.view.state, state::closed);
}

// An operator's order.

TEST_F(a_ledger, has_an_order_obeyed_once_and_says_when) {
  // given
  auto ordered = entry();
  ordered.ordered = {breaker::order::open, 0s};
  // when
  ordered = miss(ordered);
  // then
  EXPECT_FALSE(ordered.ordered) << "it is not in force";
  auto next = entry();
  const auto words = ask(next);
  EXPECT_EQ(words.at(0).order, "0 0");
  EXPECT_EQ(words.at(1).order, "");
  hear(next, {answer_words{.generation = 1, .state = state::open}, lost()});
  EXPECT_TRUE(next.ordered);
  EXPECT_EQ(ask(entry()).at(0).order, "") << "what is said again is another question";
}

TEST_F(a_ledger, obeys_an_order_itself_when_redis_never_answered) {
  exchange(entry(), {answer_words{}});
  auto ordered = entry();
  ordered.ordered = {breaker::order::open, 0s};
  miss(ordered);
  const auto said = decide(entry());
  EXPECT_TRUE(said.ordered);
  EXPECT_TRUE(said.answer.view.forced);
}

// Alone.

TEST_F(a_ledger, alone_goes_on_from_the_last_known_state) {
  exchange(entry(), {answer_words{.generation = 5, .state = state::open, .retry_after = 9'000'000}});
  now_ += 4s;
  const auto said = decide(entry());
  EXPECT_TRUE(its_.alone());
  EXPECT_EQ(said.answer.view.state, state::open);
  EXPECT_EQ(said.answer.view.generation, 5u);
  EXPECT_EQ(said.answer.view.retry_after, duration(5s));
}

TEST_F(a_ledger, alone_judges_its_share_of_the_calls) {
  settings_.certainty = std::nullopt;
  settings_.outage_threshold = 0;
  exchange(entry(), {answer_words{}});
  // 5 of 20 calls are enough for one of four replicas.
  EXPECT_EQ(decide(entry(calls(4, 0))).answer.view.state, state::closed);
  EXPECT_EQ(decide(entry(calls(0, 1))).answer.view.state, state::open);
}

TEST_F(a_ledger, alone_gives_its_share_of_the_probes) {
  settings_.probes_in_flight = 8;
  settings_.probe_share = 0.25;
  exchange(entry(), {answer_words{.generation = 2, .state = state::half_open}});
  breaker::report said;
  said.generation = 2;
  said.offered = 100;
  said.want = 8;
  EXPECT_EQ(decide(entry(said)).answer.leases.size(), 2u);
}

TEST_F(a_ledger, alone_remembers_what_it_counted_before) {
  settings_.certainty = std::nullopt;
  settings_.outage_threshold = 0;
  exchange(entry(calls(4, 0)), {answer_words{.calls = 4}});
  EXPECT_EQ(decide(entry(calls(0, 1))).answer.view.state, state::open);
}

TEST_F(a_ledger, drops_what_it_counted_alone_when_redis_is_back) {
  // given
  exchange(entry(), {answer_words{}});
  miss(entry(calls(1, 1)));
  decide(entry(calls(2, 2)));
  // when
  breaker::report said = calls(3, 3);
  said.probes.push_back({1, breaker::fate::success, false});
  said.want = 1;
  const auto words = ask(entry(said));
  // then
  ASSERT_EQ(words.size(), 1u) << "nothing is repeated";
  EXPECT_EQ(words[0].counts, "0 0 0 0 0 0");
  EXPECT_EQ(words[0].probes, "");
  EXPECT_EQ(words[0].want, "1");
}

TEST_F(a_ledger, tells_redis_the_generation_that_it_reached_alone) {
  // given
  exchange(entry(), {answer_words{.generation = 4}});
  const auto tripped = decide(entry(calls(0, 20, 4)));
  ASSERT_EQ(tripped.answer.view.generation, 5u);
  // when
  breaker::report idle;
  idle.generation = 5;
  const auto words = ask(entry(idle));
  // then
  EXPECT_EQ(words.at(0).generation, "5");
  EXPECT_TRUE(words.at(0).known.starts_with("4 1 ")) << "of the shared ones it knows the fourth";
}

TEST_F(a_ledger, takes_the_shared_state_when_redis_is_back) {
  exchange(entry(), {answer_words{.generation = 4}});
  decide(entry(calls(0, 20, 4)));
  const auto said = exchange(entry(), {answer_words{.generation = 6}});
  EXPECT_FALSE(its_.alone());
  EXPECT_EQ(said.answer.view.state, state::closed);
  ASSERT_EQ(said.answer.transitions.size(), 1u);
  EXPECT_EQ(said.answer.transitions[0].from, state::open);
}

// Trouble with its own keys.

TEST_F(a_ledger, goes_alone_at_once_when_its_keys_belong_to_somebody_else) {
  auto about = entry();
  ask(about);
  const auto heard = hear(about, {error("WRONGTYPE Operation against a key")});
  EXPECT_FALSE(heard.answered);
  EXPECT_EQ(heard.trouble, "WRONGTYPE Operation against a key");
  EXPECT_TRUE(its_.alone());
  EXPECT_FALSE(its_.may_ask(now_ + 99ms));
  EXPECT_TRUE(its_.may_ask(now_ + 200ms));
}

TEST_F(a_ledger, bears_two_misses_of_its_own) {
  exchange(entry(), {answer_words{}});
  exchange(entry(calls(1, 0)), {lost()});
  exchange(entry(calls(2, 0)), {lost(), error("LOADING")});
  EXPECT_FALSE(its_.alone());
  auto about = entry(calls(3, 0));
  EXPECT_EQ(ask(about).size(), 3u);
  EXPECT_EQ(hear(about, {lost(), lost(), error("OOM")}).trouble, "OOM");
  EXPECT_TRUE(its_.alone());
}

TEST_F(a_ledger, tells_how_long_it_was_in_trouble) {
  exchange(entry(), {error("WRONGTYPE")});
  now_ += 3s;
  auto about = entry();
  ask(about);
  const auto heard = hear(about, {answer_words{}});
  EXPECT_TRUE(heard.answered);
  EXPECT_EQ(heard.healed, duration(3s));
}

TEST_F(a_ledger, takes_a_text_that_is_no_answer_for_a_miss) {
  for (const char* text : {"", "what", "1 2", "0 9 0 0 0 0", "99999999999999999999"}) {
    exchange(entry(), {answer_words{.generation = 1}});
    const auto said = exchange(entry(), {receipt{receipt::kind::text, text}});
    EXPECT_EQ(said.answer.view.generation, 1u) << text;
    EXPECT_FALSE(its_.alone()) << text;
    exchange(entry(), {answer_words{.generation = 1}, answer_words{.generation = 1}});
  }
}

}  // namespace
}  // namespace switchgear::peers::redis
