// How often the board is asked, by what it had to do last.
#include "peers/flush_interval.hpp"

#include <gtest/gtest.h>

namespace switchgear::peers {
namespace {

using namespace std::chrono_literals;

TEST(flush_interval, is_short_while_the_board_is_quick) {
  for (const duration took : {duration(0), duration(500us), duration(25ms)}) {
    const auto next = flush_interval::after(10, took);
    EXPECT_EQ(next.tick, 100ms);
    EXPECT_EQ(next.kick, 10ms);
  }
}

TEST(flush_interval, leaves_a_slow_board_alone_for_three_quarters_of_the_time) {
  EXPECT_EQ(flush_interval::after(1, 40ms).tick, 160ms);
  EXPECT_EQ(flush_interval::after(1, 200ms).tick, 800ms);
}

TEST(flush_interval, makes_the_urgent_wait_for_a_slow_board_as_well) {
  EXPECT_EQ(flush_interval::after(1, 40ms).kick, 160ms);
  EXPECT_EQ(flush_interval::after(201, 40ms).kick, 160ms);
}

TEST(flush_interval, is_what_the_board_wants_while_it_is_quick) {
  EXPECT_EQ(flush_interval::after(1, 1ms, 400ms).tick, 400ms);
  EXPECT_EQ(flush_interval::after(1, 1ms, 400ms).kick, 10ms);
  EXPECT_EQ(flush_interval::after(1, 1ms, 20ms).tick, 20ms);
  EXPECT_EQ(flush_interval::after(1, 200ms, 400ms).tick, 800ms);
}

TEST(flush_interval, is_never_more_than_a_second) {
  for (const duration took : {duration(250ms), duration(1s), duration(24h), duration::max()}) {
    EXPECT_EQ(flush_interval::after(1, took).tick, 1s);
    EXPECT_EQ(flush_interval::after(1, took).kick, 1s);
  }
}

TEST(flush_interval, is_a_second_for_many_scopes_but_not_for_the_urgent) {
  EXPECT_EQ(flush_interval::after(200, 1ms).tick, 100ms);
  EXPECT_EQ(flush_interval::after(201, 1ms).tick, 1s);
  EXPECT_EQ(flush_interval::after(201, 1ms).kick, 10ms);
}

TEST(flush_interval, grows_with_the_length_of_the_exchange) {
  duration before{};
  for (duration took{}; took < 400ms; took += 1ms) {
    const auto next = flush_interval::after(1, took);
    EXPECT_GE(next.tick, before);
    EXPECT_GE(next.tick, std::min<duration>(4 * took, 1s));
    EXPECT_LE(next.kick, next.tick);
    before = next.tick;
  }
}

}  // namespace
}  // namespace switchgear::peers
