#include "app/demo_story.hpp"

#include <gtest/gtest.h>

namespace switchgear::app {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

seen_call answered(duration sent, const char* by = "primary", duration took = milliseconds(10)) {
  return {.sent = sent, .took = took, .answered = true, .served_by = by};
}

seen_state look(duration at, const char* state) {
  seen_state seen;
  seen.at = at;
  seen.state = state;
  return seen;
}

/// A show in which each fault opens the breaker after one second and each repair closes it after four.
demo_story good_show() {
  demo_story story;
  for (std::size_t i = 0; i < demo_phases().size(); ++i) {
    const duration start = phase_start(i);
    const bool sick = demo_phases()[i].sick();
    const bool after_sick = i > 0 && demo_phases()[i - 1].sick();
    story.add(answered(start, sick ? "cache" : "primary"));
    story.add(look(start, after_sick ? "open" : "closed"));
    story.add(look(start + seconds(1), sick ? "open" : after_sick ? "half_open" : "closed"));
    story.add(look(start + seconds(4), sick ? "open" : "closed"));
  }
  return story;
}

TEST(demo_schedule, begins_and_ends_well_and_is_well_between_two_faults) {
  const auto& phases = demo_phases();

  EXPECT_FALSE(phases.front().sick());
  EXPECT_FALSE(phases.back().sick());
  for (std::size_t i = 1; i < phases.size(); ++i) EXPECT_NE(phases[i].sick(), phases[i - 1].sick()) << i;
}

TEST(demo_schedule, shows_every_fault_within_75_seconds) {
  for (const behaviour each : {behaviour::errors, behaviour::hang, behaviour::slow}) {
    EXPECT_TRUE(
        std::any_of(demo_phases().begin(), demo_phases().end(), [&](const phase& act) { return act.weather == each; }));
  }
  EXPECT_GE(demo_length(), seconds(45));
  EXPECT_LE(demo_length(), seconds(75));
}

TEST(demo_schedule, gives_each_moment_one_phase) {
  for (std::size_t i = 0; i < demo_phases().size(); ++i) {
    EXPECT_EQ(phase_at(phase_start(i)), i);
    EXPECT_EQ(phase_at(phase_start(i) + demo_phases()[i].length - milliseconds(1)), i);
  }
  EXPECT_EQ(phase_at(demo_length() + seconds(100)), demo_phases().size() - 1);
}

TEST(demo_story, has_no_complaint_when_all_went_well) {
  EXPECT_EQ(good_show().complaints(), std::vector<std::string>());
}

TEST(demo_story, measures_trip_and_recovery_from_the_start_of_their_phase) {
  const demo_story story = good_show();

  EXPECT_EQ(story.phases()[1].tripped, seconds(1));
  EXPECT_EQ(story.phases()[2].recovered, seconds(4));
}

TEST(demo_story, counts_a_call_in_the_phase_that_it_was_sent_in) {
  demo_story story;

  story.add(answered(phase_start(1) - milliseconds(1), "primary", milliseconds(900)));

  EXPECT_EQ(story.phases()[0].calls, 1u);
  EXPECT_EQ(story.phases()[0].slowest, milliseconds(900));
  EXPECT_EQ(story.phases()[1].calls, 0u);
}

TEST(demo_story, complains_of_a_call_without_an_answer) {
  demo_story story = good_show();

  story.add({.sent = seconds(1), .took = milliseconds(5)});

  ASSERT_EQ(story.complaints().size(), 1u);
  EXPECT_NE(story.complaints()[0].find("not answered"), std::string::npos);
}

TEST(demo_story, complains_of_an_answer_after_the_deadline) {
  demo_story story = good_show();

  story.add(answered(seconds(1), "primary", demo_patience + milliseconds(1)));

  EXPECT_EQ(story.complaints().size(), 1u);
  EXPECT_EQ(story.phases()[0].unanswered, 1u);
}

TEST(demo_story, complains_of_an_error_where_a_stand_in_was_due) {
  demo_story story = good_show();
  seen_call error = answered(phase_start(3), "none");
  error.is_error = true;

  story.add(error);

  ASSERT_EQ(story.complaints().size(), 1u);
  EXPECT_NE(story.complaints()[0].find("error instead of a stand-in"), std::string::npos);
}

TEST(demo_story, complains_of_a_fault_that_did_not_open_the_breaker) {
  demo_story story;
  for (std::size_t i = 0; i < demo_phases().size(); ++i) {
    story.add(answered(phase_start(i)));
    story.add(look(phase_start(i), "closed"));
  }

  EXPECT_EQ(story.complaints().size(), 3u);
}

TEST(demo_story, does_not_take_half_open_for_open) {
  demo_story story;

  story.add(look(phase_start(1) + seconds(1), "half_open"));

  EXPECT_FALSE(story.phases()[1].tripped);
}

TEST(demo_story, takes_a_breaker_that_opens_again_as_not_recovered) {
  demo_story story = good_show();

  story.add(look(phase_start(6) + seconds(5), "open"));

  ASSERT_EQ(story.complaints().size(), 1u);
  EXPECT_NE(story.complaints()[0].find("did not close"), std::string::npos);
}

TEST(demo_story, complains_of_a_show_without_calls) {
  EXPECT_FALSE(demo_story().complaints().empty());
}

}  // namespace
}  // namespace switchgear::app
