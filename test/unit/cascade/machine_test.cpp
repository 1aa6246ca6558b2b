#include "cascade/machine.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace switchgear::cascade {
namespace {

using namespace std::chrono_literals;
using verb = action::verb;

const time_point start{100s};
const time_point deadline = start + 2s;

plan everything() {
  return {{cache_step{}, tool_step{"backup", ""}, fixed_step{"sorry", ""}}};
}

std::vector<std::string> written(const trail& steps) {
  std::vector<std::string> out;
  for (const auto& entry : steps) out.push_back(std::string(entry.what) + ":" + std::string(name(entry.how)));
  return out;
}

using words = std::vector<std::string>;

event refused() {
  return {ending::refused, reason::open, false, false};
}
event lost_write() {
  return {ending::failed, reason::upstream_error, true, false};
}

TEST(a_cascade, calls_the_primary_first) {
  const plan steps = everything();
  EXPECT_EQ(machine(steps, "main", deadline).begin().what, verb::call_primary);
}

TEST(a_cascade, passes_on_what_the_primary_says_and_tries_nothing_else) {
  const plan steps = everything();
  machine cascade(steps, "main", deadline);

  const action next = cascade.on({ending::answered}, start);

  EXPECT_EQ(next.what, verb::pass_on);
  EXPECT_EQ(cascade.reason(), reason::none);
  EXPECT_EQ(written(cascade.steps()), words{"primary:answered"});
}

TEST(a_cascade, goes_through_its_steps_in_order_until_one_has_an_answer) {
  const plan steps = everything();
  machine cascade(steps, "main", deadline);

  const action first = cascade.on(refused(), start);
  const action second = cascade.on({ending::miss}, start);
  const action third = cascade.on({ending::failed}, start);
  const action last = cascade.on({ending::hit}, start);

  EXPECT_EQ(first.what, verb::try_step);
  EXPECT_EQ(first.step, 0U);
  EXPECT_EQ(second.step, 1U);
  EXPECT_EQ(third.step, 2U);
  EXPECT_EQ(last.what, verb::stand_in);
  EXPECT_EQ(last.step, 2U);
  EXPECT_EQ(cascade.reason(), reason::open);
  EXPECT_EQ(written(cascade.steps()), (words{"primary:refused", "cache:miss", "tool:failed", "static:hit"}));
}

TEST(a_cascade, is_exhausted_when_no_step_has_an_answer) {
  const plan steps{{cache_step{}}};
  machine cascade(steps, "main", deadline);

  cascade.on(refused(), start);
  const action last = cascade.on({ending::miss}, start);

  EXPECT_EQ(last.what, verb::fail);
  EXPECT_EQ(cascade.reason(), reason::exhausted);
  EXPECT_EQ(cascade.primary_reason(), reason::open);
}

TEST(a_cascade, without_steps_fails_for_the_primarys_reason) {
  const plan none;
  machine cascade(none, "main", deadline);

  EXPECT_EQ(cascade.on({ending::timed_out, reason::timeout}, start).what, verb::fail);
  EXPECT_EQ(cascade.reason(), reason::timeout);
}

TEST(a_cascade, goes_on_after_a_step_that_would_not_fit_the_output_schema) {
  const plan steps = everything();
  machine cascade(steps, "main", deadline);

  cascade.on(refused(), start);
  cascade.on({ending::miss}, start);
  const action next = cascade.on({ending::unfit}, start);

  EXPECT_EQ(next.what, verb::try_step);
  EXPECT_EQ(next.step, 2U);
}

TEST(a_call_that_may_have_taken_effect, lets_no_other_tool_run) {
  const plan steps = everything();
  machine cascade(steps, "main", deadline);

  const action first = cascade.on(lost_write(), start);
  const action second = cascade.on({ending::miss}, start);

  EXPECT_EQ(first.step, 0U);
  EXPECT_EQ(second.what, verb::try_step);
  EXPECT_EQ(second.step, 2U);  // a fixed answer does nothing twice
  EXPECT_TRUE(cascade.outcome_unknown());
  EXPECT_EQ(written(cascade.steps()), (words{"primary:failed", "cache:miss", "tool:unsafe"}));
}

TEST(a_call_that_may_have_taken_effect, in_a_step_lets_no_later_tool_run) {
  const plan steps{{tool_step{"one", ""}, tool_step{"two", ""}}};
  machine cascade(steps, "main", deadline);

  cascade.on(refused(), start);
  const action last = cascade.on({ending::failed, reason::upstream_error, true}, start);

  EXPECT_EQ(last.what, verb::fail);
  EXPECT_EQ(written(cascade.steps()), (words{"primary:refused", "tool:failed", "tool:unsafe"}));
}

TEST(a_cascade, does_not_start_a_tool_with_too_little_time_left) {
  const plan steps = everything();
  machine cascade(steps, "main", deadline);

  cascade.on({ending::timed_out, reason::timeout}, deadline);
  const action next = cascade.on({ending::miss}, deadline - tool_step{}.minimum_time + 1ms);

  EXPECT_EQ(next.step, 2U);
  EXPECT_EQ(written(cascade.steps()), (words{"primary:timeout", "cache:miss", "tool:no_time"}));
}

TEST(a_cascade, starts_a_tool_with_just_enough_time_left) {
  const plan steps{{tool_step{"backup", ""}}};
  machine cascade(steps, "main", deadline);

  EXPECT_EQ(cascade.on(refused(), deadline - tool_step{}.minimum_time).what, verb::try_step);
}

TEST(a_step, says_how_much_time_it_needs) {
  const plan steps{{tool_step{.name = "one", .minimum_time = 300ms}, tool_step{.name = "two", .minimum_time = 100ms}}};
  machine cascade(steps, "main", deadline);

  EXPECT_EQ(cascade.on(refused(), deadline - 200ms).step, 1U);
  EXPECT_EQ(written(cascade.steps()), (words{"primary:refused", "tool:no_time"}));
}

TEST(the_primary, is_given_up_in_time_for_what_the_steps_behind_it_need) {
  const plan steps{{cache_step{}, tool_step{.name = "one", .minimum_time = 300ms},
                    tool_step{.name = "two", .minimum_time = 100ms}, fixed_step{"sorry", ""}}};
  const machine cascade(steps, "main", deadline);

  EXPECT_EQ(cascade.primary_deadline(start, true), deadline - 520ms);
  EXPECT_EQ(cascade.step_deadline(0, start, true), deadline - 520ms);
  EXPECT_EQ(cascade.step_deadline(1, start, true), deadline - 145ms);
  EXPECT_EQ(cascade.step_deadline(2, start, true), deadline);
}

TEST(the_primary, has_all_of_the_time_when_nothing_behind_it_needs_any) {
  const plan none, harmless{{cache_step{}, fixed_step{"sorry", ""}}};

  EXPECT_EQ(machine(none, "main", deadline).primary_deadline(start, true), deadline);
  EXPECT_EQ(machine(harmless, "main", deadline).primary_deadline(start, true), deadline);
}

TEST(the_primary, leaves_time_to_ask_other_replicas_and_the_step_is_begun_without_it_too) {
  const plan steps{{cache_step{.look = 50ms}}};
  machine cascade(steps, "main", deadline);

  EXPECT_EQ(cascade.primary_deadline(start, true), deadline - 82500us);
  EXPECT_EQ(cascade.primary_deadline(start, false), deadline - 82500us);
  EXPECT_EQ(cascade.on({ending::timed_out, reason::timeout}, deadline).what, verb::try_step);
}

TEST(the_primary, has_all_of_the_time_when_the_steps_would_take_half_of_it) {
  const plan greedy{{tool_step{.name = "one", .minimum_time = 784ms}}},
      modest{{tool_step{.name = "one", .minimum_time = 780ms}}};

  EXPECT_EQ(machine(greedy, "main", deadline).primary_deadline(start, true), deadline);
  EXPECT_EQ(machine(modest, "main", deadline).primary_deadline(start, true), deadline - 995ms);
  // What has passed already is no longer there to be halved.
  EXPECT_EQ(machine(modest, "main", deadline).primary_deadline(start + 100ms, true), deadline);
}

TEST(the_primary, leaves_no_time_for_steps_that_cannot_run) {
  const plan steps{{tool_step{.name = "main", .minimum_time = 300ms}, tool_step{.name = "one", .minimum_time = 50ms},
                    tool_step{.name = "one", .minimum_time = 50ms}}};

  // Itself, and what stands twice.
  EXPECT_EQ(machine(steps, "main", deadline).primary_deadline(start, true), deadline - 82500us);
  // A tool that writes is given up without knowing whether it did: no other tool may follow it.
  EXPECT_EQ(machine(steps, "main", deadline).primary_deadline(start, false), deadline);
}

TEST(a_step, leaves_no_time_for_those_that_may_not_follow_what_was_tried) {
  const plan steps{{tool_step{.name = "one"}, tool_step{.name = "two"}}};
  machine cascade(steps, "main", deadline);
  cascade.on(refused(), start);

  EXPECT_EQ(cascade.step_deadline(0, start, false), deadline);
  EXPECT_EQ(cascade.step_deadline(0, start, true), deadline - 45ms);
}

// RC-070: A->A and A->B->B.
TEST(a_cascade, tries_each_target_at_most_once) {
  const plan steps{{tool_step{"main", ""}, tool_step{"backup", ""}, tool_step{"backup", "{}"}}};
  machine cascade(steps, "main", deadline);

  const action first = cascade.on(refused(), start);
  const action second = cascade.on({ending::refused}, start);

  EXPECT_EQ(first.step, 1U);
  EXPECT_EQ(second.what, verb::fail);
  EXPECT_EQ(written(cascade.steps()), (words{"primary:refused", "tool:repeated", "tool:refused", "tool:repeated"}));
}

TEST(a_cascade, may_look_into_the_cache_twice_with_different_ages) {
  const plan steps{{cache_step{1min}, tool_step{"backup", ""}, cache_step{1h}}};
  machine cascade(steps, "main", deadline);

  cascade.on(refused(), start);
  cascade.on({ending::miss}, start);
  const action last = cascade.on({ending::failed}, start);

  EXPECT_EQ(last.what, verb::try_step);
  EXPECT_EQ(last.step, 2U);
}

TEST(a_denied_call, is_never_replaced) {
  const plan steps = everything();
  machine cascade(steps, "main", deadline);

  EXPECT_EQ(cascade.on({ending::denied, reason::denied}, start).what, verb::fail);
  EXPECT_EQ(cascade.reason(), reason::denied);
}

TEST(a_cancelled_call, ends_whereever_it_is) {
  const plan steps = everything();
  machine early(steps, "main", deadline);
  machine late(steps, "main", deadline);

  late.on(refused(), start);
  late.on({ending::miss}, start);

  EXPECT_EQ(early.on({ending::cancelled}, start).what, verb::fail);
  EXPECT_EQ(late.on({ending::cancelled}, start).what, verb::fail);
}

TEST(an_error_that_the_primary_brought, is_passed_on_when_there_are_no_steps) {
  const plan none;
  machine cascade(none, "main", deadline);

  EXPECT_EQ(cascade.on({ending::failed, reason::upstream_error, false, true}, start).what, verb::pass_on);
}

// RC-070: the end is one error that lists the hops.
TEST(an_error_that_the_primary_brought, is_told_with_the_steps_when_none_of_them_helped) {
  const plan steps{{cache_step{}}};
  machine cascade(steps, "main", deadline);

  cascade.on({ending::failed, reason::upstream_error, false, true}, start);

  EXPECT_EQ(cascade.on({ending::miss}, start).what, verb::fail);
  EXPECT_EQ(cascade.reason(), reason::exhausted);
}

// A proxy may say it after the tool has done what it was asked for.
TEST(an_upstream_that_throttles_once_it_may_have_acted, leaves_the_outcome_open_and_no_other_tool_runs) {
  const plan steps = everything();
  machine cascade(steps, "main", deadline);

  cascade.on({ending::throttled, reason::throttled, true}, start);
  cascade.on({ending::miss}, start);

  EXPECT_TRUE(cascade.outcome_unknown());
  EXPECT_EQ(written(cascade.steps()), (words{"primary:throttled", "cache:miss", "tool:unsafe"}));
}

TEST(an_upstream_that_throttles_and_has_not_acted, leaves_no_doubt_and_another_tool_runs) {
  const plan steps = everything();
  machine cascade(steps, "main", deadline);

  cascade.on({ending::throttled, reason::throttled, false}, start);

  EXPECT_EQ(cascade.on({ending::miss}, start).what, verb::try_step);
  EXPECT_FALSE(cascade.outcome_unknown());
}

TEST(an_error_that_the_primary_brought, is_replaced_by_a_stand_in) {
  const plan steps{{cache_step{}}};
  machine cascade(steps, "main", deadline);

  cascade.on({ending::failed, reason::upstream_error, false, true}, start);

  EXPECT_EQ(cascade.on({ending::hit}, start).what, verb::stand_in);
}

TEST(a_cascade, looks_at_no_more_steps_than_a_plan_may_have) {
  plan steps;
  for (std::size_t i = 0; i < 2 * plan::max_steps; ++i) steps.steps.emplace_back(fixed_step{"text", ""});
  machine cascade(steps, "main", deadline);

  std::size_t tries = 0;
  for (action next = cascade.on(refused(), start); next.what == verb::try_step;
       next = cascade.on({ending::unfit}, start)) {
    ++tries;
  }

  EXPECT_EQ(tries, plan::max_steps);
  EXPECT_EQ(cascade.steps().size, plan::max_steps + 1);
}

}  // namespace
}  // namespace switchgear::cascade
