#include "async/interrupt.hpp"

#include "async/chain.hpp"
#include "async/worker.hpp"

#include <gtest/gtest.h>

namespace switchgear::async {
namespace {

using namespace std::chrono_literals;

struct clock_of_a_call : testing::Test {
  worker on{0};
  interrupt call{on.timers};
  time_point start = worker::now();

  void run(duration length) {
    on.io.restart();
    on.io.run_for(length);
  }
};

TEST_F(clock_of_a_call, ends_it_at_its_deadline) {
  call.arm(start + 20ms);
  run(100ms);
  EXPECT_EQ(call.why(), interrupt::reason::deadline);
}

TEST_F(clock_of_a_call, stands_still_while_it_is_paused) {
  call.arm(start + 20ms);
  call.pause(start);
  run(60ms);
  EXPECT_FALSE(call.raised());
  EXPECT_EQ(call.deadline(), time_point::max());
  call.resume(start + 1h);
  EXPECT_EQ(call.deadline(), start + 1h + 20ms);
  EXPECT_EQ(call.paused(), 1h);
  EXPECT_TRUE(call.armed());
}

TEST_F(clock_of_a_call, runs_again_after_the_last_of_overlapping_pauses) {
  call.arm(start + 20ms);
  call.pause(start);
  call.pause(start + 1s);
  call.resume(start + 2s);
  EXPECT_EQ(call.deadline(), time_point::max());
  call.resume(start + 3s);
  EXPECT_EQ(call.paused(), 3s);
}

TEST_F(clock_of_a_call, stops_that_of_its_part_as_well) {
  interrupt part(on.timers);
  call.arm(start + 1s);
  part.arm(start + 20ms);
  {
    const chain chained(call, part);
    call.pause(start);
    EXPECT_EQ(part.deadline(), time_point::max());
    call.resume(start + 1h);
  }
  EXPECT_EQ(part.deadline(), start + 1h + 20ms);
  call.pause(start + 2h);
  EXPECT_EQ(part.deadline(), start + 1h + 20ms);
  call.resume(start + 2h);
}

TEST_F(clock_of_a_call, ends_its_part_too) {
  interrupt part(on.timers);
  const chain chained(call, part);
  call.raise(interrupt::reason::cancelled);
  EXPECT_EQ(part.why(), interrupt::reason::cancelled);
}

TEST_F(clock_of_a_call, moves_the_slow_moment_as_well) {
  bool slow = false;
  const auto note = [](void* flag) { *static_cast<bool*>(flag) = true; };
  call.arm(start + 200ms, start + 10ms, note, &slow);
  call.pause(start);
  run(40ms);
  EXPECT_FALSE(slow);
  call.resume(start + 10ms);
  run(60ms);
  EXPECT_TRUE(slow);
}

TEST_F(clock_of_a_call, does_not_start_again_once_the_call_was_interrupted) {
  call.arm(start + 20ms);
  call.pause(start);
  call.raise(interrupt::reason::cancelled);
  call.resume(start + 1s);
  EXPECT_FALSE(call.armed());
  EXPECT_EQ(call.why(), interrupt::reason::cancelled);
}

TEST_F(clock_of_a_call, ends_it_when_nothing_is_heard_at_first) {
  call.arm(start + 10s);
  call.limit_silence({.first = 20ms, .later = 10s}, start);
  run(100ms);
  EXPECT_EQ(call.why(), interrupt::reason::deadline);
  EXPECT_TRUE(call.silent());
  EXPECT_FALSE(call.has_heard());
}

TEST_F(clock_of_a_call, ends_it_when_nothing_more_is_heard) {
  call.arm(start + 10s);
  call.limit_silence({.first = 10s, .later = 20ms}, start);
  run(50ms);
  EXPECT_FALSE(call.raised());  // `later` counts from the first sign
  call.heard(interrupt::sign::answer);
  run(100ms);
  EXPECT_TRUE(call.silent());
  EXPECT_TRUE(call.has_heard());
}

TEST_F(clock_of_a_call, goes_on_while_signs_of_life_come_and_ends_at_its_deadline_all_the_same) {
  for (const bool counts : {true, false}) {
    interrupt one(on.timers);
    const time_point begin = worker::now();
    one.arm(begin + 200ms);
    one.limit_silence({.first = 60ms, .later = 60ms, .progress_counts = counts}, begin);
    for (int i = 0; i < 15 && !one.raised(); ++i) {
      one.heard(interrupt::sign::progress);
      run(20ms);
    }
    EXPECT_EQ(one.why(), interrupt::reason::deadline);
    EXPECT_EQ(one.silent(), !counts);
  }
}

TEST_F(clock_of_a_call, does_not_take_a_pause_for_silence) {
  call.arm(start + 10s);
  call.limit_silence({.first = 20ms, .later = 20ms}, start);
  call.pause(start);
  run(60ms);
  call.heard(interrupt::sign::answer);
  EXPECT_FALSE(call.raised());
  call.resume(worker::now());
  EXPECT_FALSE(call.raised());
  run(100ms);
  EXPECT_TRUE(call.silent());
}

TEST_F(clock_of_a_call, tells_of_slowness_before_silence_ends_it) {
  bool slow = false;
  call.arm(start + 10s, start + 10ms, [](void* flag) { *static_cast<bool*>(flag) = true; }, &slow);
  call.limit_silence({.first = 40ms, .later = {}}, start);
  run(120ms);
  EXPECT_TRUE(slow);
  EXPECT_TRUE(call.silent());
}

TEST_F(clock_of_a_call, that_was_never_set_is_not_set_by_a_pause) {
  call.pause(start);
  call.resume(start + 1s);
  EXPECT_FALSE(call.armed());
}

}  // namespace
}  // namespace switchgear::async
