// Notes of sessions: what is written of each, in which order, and what is dropped.
#include "peers/redis/attendance.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchgear::peers::redis {
namespace {

using namespace std::chrono_literals;
using port::presence;

constexpr time_point start = time_point() + 1000s;
constexpr std::size_t all = attendance::most_waiting;

std::vector<std::string> keys(const std::vector<attendance::note>& of) {
  std::vector<std::string> made;
  for (const auto& each : of) made.push_back((each.ended ? "-" : "+") + each.key);
  return made;
}
using list = std::vector<std::string>;

std::vector<command> written(const attendance::note& of, time_point now) {
  std::vector<routed> routes;
  EXPECT_EQ(write_note(of, now, routes), routes.size());
  std::vector<command> made;
  for (const routed& each : routes) {
    EXPECT_EQ(each.slot, slot_of(of.key));
    made.push_back(each.words);
  }
  return made;
}

TEST(attendance, says_once_what_was_said_often) {
  attendance notes;
  notes.keep("a", 10s, start);
  notes.keep("b", 10s, start);
  notes.keep("a", 10s, start + 5s);
  const auto taken = notes.take(all, start + 5s);
  EXPECT_EQ(keys(taken), (list{"+a", "+b"}));
  EXPECT_EQ(taken[0].until, start + 15s);
  EXPECT_TRUE(notes.empty());
}

TEST(attendance, does_not_take_back_a_longer_life) {
  attendance notes;
  notes.keep("a", 10s, start);
  notes.keep("a", 1s, start);
  EXPECT_EQ(notes.take(all, start).at(0).until, start + 10s);
}

TEST(attendance, says_nothing_of_a_session_that_is_over_meanwhile) {
  attendance notes;
  notes.keep("a", 1s, start);
  EXPECT_TRUE(notes.take(all, start + 1s).empty());
  EXPECT_TRUE(notes.empty());
}

TEST(attendance, lets_an_end_have_the_last_word) {
  attendance notes;
  notes.keep("a", 1s, start);
  notes.forget("a", start);
  notes.keep("a", 1s, start);
  EXPECT_EQ(keys(notes.take(all, start)), list{"-a"});
}

TEST(attendance, speaks_of_the_ended_first) {
  attendance notes;
  notes.keep("a", 1s, start);
  notes.forget("b", start);
  notes.keep("c", 1s, start);
  EXPECT_EQ(keys(notes.take(2, start)), (list{"-b", "+a"}));
  EXPECT_EQ(keys(notes.take(2, start)), list{"+c"});
}

TEST(attendance, remembers_an_end_for_as_long_as_a_session_may_be_silent) {
  attendance notes;
  notes.forget("a", start);
  notes.keep("b", 1h, start);
  notes.forget("c", start);
  const auto taken = notes.take(2, start);
  EXPECT_EQ(taken[0].until, start + attendance::least_memory);
  EXPECT_EQ(taken[1].until, start + 1h);
}

TEST(attendance, survives_any_length_of_time) {
  attendance notes;
  notes.keep("a", duration::max(), start);
  notes.keep("b", duration::min(), start);
  const auto taken = notes.take(all, start);
  EXPECT_EQ(taken.at(0).until, start + attendance::longest_idle);
  EXPECT_EQ(taken.at(1).until, start + 1ms);
}

TEST(attendance, drops_the_oldest_life_and_no_end_when_it_is_full) {
  attendance notes;
  notes.forget("ended", start);
  for (std::size_t i = 0; i < all; ++i) notes.keep(std::to_string(i), 1s, start);
  EXPECT_EQ(notes.waiting(), all);
  EXPECT_EQ(notes.dropped(), 1u);
  EXPECT_EQ(keys(notes.take(2, start)), (list{"-ended", "+1"}));
}

TEST(attendance, drops_a_life_rather_than_an_end_when_it_is_full_of_those) {
  attendance notes;
  for (std::size_t i = 0; i < all; ++i) notes.forget(std::to_string(i), start);
  notes.keep("a", 1s, start);
  EXPECT_EQ(notes.dropped(), 1u);
  notes.forget("newest", start);
  EXPECT_EQ(notes.dropped(), 2u);
  EXPECT_EQ(notes.waiting(), all);
  EXPECT_EQ(keys(notes.take(1, start)), list{"-1"});
}

TEST(attendance, says_again_what_was_not_taken) {
  attendance notes;
  notes.keep("a", 10s, start);
  notes.forget("b", start);
  for (auto& each : notes.take(all, start)) notes.put_back(each);
  const auto again = notes.take(all, start + 1s);
  EXPECT_EQ(keys(again), (list{"-b", "+a"}));
  EXPECT_EQ(again[1].until, start + 10s) << "the session's time went on";
}

TEST(attendance, holds_on_to_what_was_said_meanwhile) {
  attendance notes;
  notes.keep("a", 10s, start);
  notes.keep("b", 10s, start);
  auto unheard = notes.take(all, start);
  notes.keep("a", 10s, start + 1s);
  notes.forget("b", start + 1s);
  for (auto& each : unheard) notes.put_back(each);
  const auto taken = notes.take(all, start + 1s);
  EXPECT_EQ(keys(taken), (list{"-b", "+a"}));
  EXPECT_EQ(taken[1].until, start + 11s);
}

TEST(attendance, says_an_end_that_was_not_taken_before_a_later_life) {
  attendance notes;
  notes.forget("a", start);
  auto unheard = notes.take(all, start);
  notes.keep("a", 10s, start);
  notes.put_back(unheard.at(0));
  EXPECT_EQ(keys(notes.take(all, start)), list{"-a"});
}

TEST(attendance, writes_a_life_so_that_it_does_not_undo_an_end) {
  EXPECT_EQ(written({"k", false, start + 1500us}, start),
            (std::vector<command>{{"PEXPIRE", "k", "2", "GT"}, {"SET", "k", "alive", "PX", "2", "NX"}}));
  EXPECT_EQ(written({"k", true, start + 1s}, start), (std::vector<command>{{"SET", "k", "ended", "PX", "1000"}}));
}

TEST(attendance, reads_what_is_written_of_a_session) {
  using kind = enum response::kind;
  const auto read = [](kind what, std::string text, bool complete) {
    return read_note({what, std::move(text), 0, {}}, complete);
  };
  EXPECT_EQ(read(kind::text, "alive", true), presence::alive);
  EXPECT_EQ(read(kind::text, "alive", false), presence::alive);
  EXPECT_EQ(read(kind::text, "ended", false), presence::gone);
  EXPECT_EQ(read(kind::nil, "", true), presence::unnoted);
  EXPECT_EQ(read(kind::nil, "", false), presence::not_known);
  EXPECT_EQ(read(kind::text, "rubbish", true), presence::not_known);
  for (const kind each : {kind::lost, kind::error, kind::number, kind::list}) {
    EXPECT_EQ(read(each, "alive", true), presence::not_known);
  }
}

}  // namespace
}  // namespace switchgear::peers::redis
