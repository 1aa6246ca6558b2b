// How a coroutine that has nothing to do is woken.
#include "peers/redis/bell.hpp"

#include "support/redis/event_loop.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

namespace switchgear::peers::redis {
namespace {

using namespace std::chrono_literals;

boost::asio::awaitable<bool> is_rung_within(bell& waits, duration limit) {
  const time_point until = std::chrono::steady_clock::now() + limit;
  co_await waits.wait(until);
  co_return std::chrono::steady_clock::now() < until;
}

struct ringing : testing::Test {
  bool rung_within(duration limit) { return test::run(io, is_rung_within(tested, limit)); }
  boost::asio::io_context io;
  bell tested{io};
};
using a_bell = ringing;

TEST_F(a_bell, ends_the_wait_under_way) {
  boost::asio::post(io, [this] { tested.ring(); });
  EXPECT_TRUE(rung_within(5s));
}

TEST_F(a_bell, ends_the_next_wait_and_no_other) {
  tested.ring();
  tested.ring();
  EXPECT_TRUE(rung_within(5s));
  EXPECT_FALSE(rung_within(1ms));
}

TEST_F(a_bell, may_be_called_from_any_thread) {
  for (int i = 0; i < 100; ++i) {
    std::jthread caller([this] { tested.call(); });
    EXPECT_TRUE(rung_within(5s));
  }
}

TEST_F(a_bell, costs_the_loop_one_handler_however_often_it_is_called) {
  for (int i = 0; i < 1000; ++i) tested.call();
  EXPECT_EQ(io.poll(), 1u);
  io.restart();
  tested.call();
  EXPECT_EQ(io.poll(), 1u);
}

}  // namespace
}  // namespace switchgear::peers::redis
