// The log of pauses: what is written, what is read of it, and how it stays small.
#include "peers/redis/pause_log.hpp"

#include "port/pauses.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchgear::peers::redis {
namespace {

using namespace std::chrono_literals;
using kind = enum response::kind;
using commands = std::vector<command>;

constexpr time_point start = time_point() + 1000s;

response text(std::string said) {
  return {kind::text, std::move(said), 0, {}};
}
response list(std::vector<response> items) {
  return {kind::list, {}, 0, std::move(items)};
}
response at(std::int64_t ms) {
  return list({text(std::to_string(ms / 1000)), text(std::to_string(ms % 1000 * 1000))});
}
response entry(std::string id, std::string name, std::string ms) {
  return list({text(std::move(id)), list({text("name"), text(std::move(name)), text("ms"), text(std::move(ms))})});
}

std::vector<command> words(const std::vector<routed>& all) {
  std::vector<command> made;
  for (const routed& each : all) {
    EXPECT_EQ(each.slot, slot_of("{fleet}"));
    made.push_back(each.words);
  }
  return made;
}

std::string heard(pause_log& log, const std::vector<response>& said) {
  std::string all;
  for (const auto& each : log.hear(said)) {
    all += each.name + "=" + std::to_string(each.left / 1ms) + " ";
  }
  return all;
}

TEST(a_log_of_pauses, holds_names_and_lengths) {
  pause_log log("cb");
  log.add("a__t", start + 1500ms);
  log.add("b__t", start + 7s);
  const auto notes = log.take(start);
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(words(log.write(notes, start + 500us)),
            (commands{{"XADD", "cb:{fleet}:pauses", "MAXLEN", "1000", "*", "name", "a__t", "ms", "1500"},
                      {"XADD", "cb:{fleet}:pauses", "MAXLEN", "1000", "*", "name", "b__t", "ms", "7000"},
                      {"PEXPIRE", "cb:{fleet}:pauses", "300000"}}))
      << "a part of a millisecond is one";
}

TEST(a_log_of_pauses, says_the_longest_of_several_once) {
  pause_log log("cb");
  for (const duration length : {2s, 9s, 5s}) log.add("a__t", start + length);
  const auto notes = log.take(start);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].until, start + 9s);
}

TEST(a_log_of_pauses, says_nothing_of_what_is_over) {
  pause_log log("cb");
  log.add("a__t", start + 1s);
  EXPECT_TRUE(log.take(start + 1s).empty());
  EXPECT_TRUE(log.empty());
}

TEST(a_log_of_pauses, lets_no_more_wait_than_it_may) {
  pause_log log("cb");
  for (std::size_t i = 0; i < pause_log::most_waiting + 7; ++i) log.add(std::to_string(i), start + 1s);
  log.add("0", start + 2s);
  EXPECT_EQ(log.dropped(), 7u);
  const auto notes = log.take(start);
  EXPECT_EQ(notes.size(), pause_log::most_waiting);
  EXPECT_EQ(notes.at(0).until, start + 2s);
}

TEST(a_log_of_pauses, is_read_on_from_the_last_entry) {
  pause_log log("cb");
  const command time = {"TIME"};
  EXPECT_EQ(words(log.read()), (commands{time, {"XRANGE", "cb:{fleet}:pauses", "-", "+", "COUNT", "1000"}}));
  EXPECT_EQ(heard(log, {at(10'000), list({entry("9000-0", "a__t", "5000"), entry("9500-1", "b__t", "700")})}),
            "a__t=4000 b__t=200 ");
  EXPECT_EQ(words(log.read()), (commands{time, {"XRANGE", "cb:{fleet}:pauses", "(9500-1", "+", "COUNT", "1000"}}));
  EXPECT_EQ(heard(log, {at(10'000), list({})}), "");
  EXPECT_EQ(words(log.read()).at(1).at(2), "(9500-1");
  log.start_anew();
  EXPECT_EQ(words(log.read()).at(1).at(2), "-");
}

TEST(a_log_of_pauses, tells_nothing_of_what_is_over) {
  pause_log log("cb");
  EXPECT_EQ(heard(log, {at(10'000), list({entry("4999-0", "a__t", "5000"), entry("5000-0", "b__t", "5000")})}), "");
  EXPECT_EQ(words(log.read()).at(1).at(2), "(5000-0");
}

TEST(a_log_of_pauses, believes_no_clock_and_no_length_too_much) {
  pause_log log("cb");
  // The store's clock was put back by an hour.
  EXPECT_EQ(heard(log, {at(10'000), list({entry("3610000-0", "a__t", "5000")})}), "a__t=5000 ");
  EXPECT_EQ(heard(log, {at(3'610'000), list({entry("3610000-1", "a__t", "99999999999")})}), "a__t=300000 ");
}

TEST(a_log_of_pauses, passes_over_what_is_no_entry) {
  const std::string long_name(port::pauses::longest_name + 1, 'x');
  const response rubbish[] = {text("x"),
                              list({}),
                              list({text("9000-0")}),
                              list({text("9000-0"), text("name")}),
                              list({text("9000-0"), list({text("name"), text("a")})}),
                              list({text("9000-0"), list({text("ms"), text("5000"), text("name"), text("a")})}),
                              entry("nine", "a", "5000"),
                              entry("", "a", "5000"),
                              entry("9000-0", "a", "-5000"),
                              entry("9000-0", "a", "5000x"),
                              entry("9000-0", "a", ""),
                              entry("9000-0", "a", "99999999999999999999"),
                              entry("9000-0", long_name, "5000")};
  for (const response& each : rubbish) {
    pause_log log("cb");
    EXPECT_EQ(heard(log, {at(10'000), list({each, entry("9000-1", "b", "5000")})}), "b=4000 ");
  }
}

TEST(a_log_of_pauses, hears_nothing_from_a_store_that_does_not_answer) {
  const response good = list({entry("9000-0", "a", "5000")});
  const std::vector<response> answers[] = {{},
                                           {{}, {}},
                                           {at(10'000), {}},
                                           {at(10'000), {kind::nil, {}, 0, {}}},
                                           {{}, good},
                                           {list({text("1")}), good},
                                           {list({text("x"), text("1")}), good},
                                           {list({text("1"), text("1000000")}), good},
                                           {list({text("9999999999999999"), text("1")}), good}};
  for (const auto& each : answers) {
    pause_log log("cb");
    EXPECT_EQ(heard(log, each), "");
  }
  pause_log log("cb");
  heard(log, {at(10'000), good});
  EXPECT_EQ(heard(log, {at(10'000), {kind::error, "ERR Invalid stream ID", 0, {}}}), "");
  EXPECT_EQ(words(log.read()).at(1).at(2), "-") << "it is asked for nothing twice that it cannot give";
}

}  // namespace
}  // namespace switchgear::peers::redis
