// Slots are given out up to the limit, wait in order, and come back whatever becomes of who holds them.
#include "call/limiter.hpp"

#include "call/limiters.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

namespace switchgear::call {
namespace {

using namespace std::chrono_literals;
using cascade::concurrency_policy;
using port::limit_refusal;

concurrency_policy policy_of(unsigned limit, unsigned queue = 3, duration queue_timeout = 1h) {
  concurrency_policy made;
  made.limit = limit;
  made.queue = queue;
  made.queue_timeout = queue_timeout;
  return made;
}

/// A call that wants a slot, and how far it has come.
struct caller {
  explicit caller(async::worker& on, duration deadline = 1h) : interrupt(on.timers) {
    interrupt.arm(async::worker::now() + deadline);
  }
  async::interrupt interrupt;
  slot held;
  bool done = false;
  std::optional<limit_refusal> refused;
};

class a_limiter : public testing::Test {
 protected:
  limiter& with(const concurrency_policy& policy) {
    limit_ = std::make_unique<limiter>("search__query", false, policy);
    return *limit_;
  }

  /// Takes what is free, which is not tested here.
  slot taken(std::string_view principal = "") {
    slot made;
    EXPECT_TRUE(limit_->take(principal, made));
    return made;
  }

  bool refuses(std::string_view principal = "") {
    slot made;
    return !limit_->take(principal, made);
  }

  std::unique_ptr<caller> waiting(duration deadline = 1h, std::string_view principal = "") {
    auto one = std::make_unique<caller>(*worker, deadline);
    boost::asio::co_spawn(worker->io, ask(*worker, *limit_, principal, *one), boost::asio::detached);
    run();
    return one;
  }

  /// Until there is nothing more to do at once.
  void run() {
    worker->io.restart();
    worker->io.poll();
  }

  void run_until_done(const caller& one) {
    const time_point limit = async::worker::now() + 10s;
    while (!one.done && async::worker::now() < limit) {
      worker->io.restart();
      worker->io.run_one_for(100ms);
    }
    EXPECT_TRUE(one.done);
  }

  /// Makes the limit believe that a call usually takes so long.
  static void teach(slot& by, duration took) {
    for (int i = 0; i < 10; ++i) by.answered(took);
  }

  static boost::asio::awaitable<void> ask(async::worker& on, limiter& limit, std::string_view principal, caller& who) {
    who.refused = co_await limit.wait(on, principal, who.interrupt, who.held);
    who.done = true;
  }

  std::unique_ptr<limiter> limit_;
  std::unique_ptr<async::worker> worker = std::make_unique<async::worker>(0);
};

TEST_F(a_limiter, gives_as_many_slots_as_the_limit_says) {
  with(policy_of(2));
  slot first = taken();
  const slot second = taken();
  EXPECT_TRUE(refuses());
  first = {};
  EXPECT_FALSE(refuses());
  EXPECT_EQ(limit_->figures().in_flight, 1u);
}

TEST_F(a_limiter, gets_a_slot_back_once_wherever_it_was_moved) {
  with(policy_of(2));
  slot first = taken();
  slot moved = std::move(first);
  slot second = taken();
  second = std::move(moved);
  EXPECT_EQ(limit_->figures().in_flight, 1u);
  second = {};
  EXPECT_EQ(limit_->figures().in_flight, 0u);
}

TEST_F(a_limiter, serves_who_waits_in_the_order_in_which_they_came) {
  with(policy_of(1));
  slot held = taken();
  const auto first = waiting(), second = waiting(), third = waiting();
  EXPECT_EQ(limit_->figures().waiting, 3u);

  held = {};
  run();
  EXPECT_TRUE(first->done && !second->done && !third->done);
  EXPECT_TRUE(refuses()) << "nobody overtakes the queue";
  first->held = {};
  run();
  EXPECT_TRUE(second->done && !third->done);
  second->held = {};
  run();
  EXPECT_TRUE(third->done && third->held);
  EXPECT_FALSE(third->refused);
  EXPECT_EQ(limit_->figures().in_flight, 1u);
  EXPECT_EQ(limit_->figures().waiting, 0u);
}

TEST_F(a_limiter, refuses_at_once_when_the_queue_is_full) {
  for (const unsigned queue : {0U, 2U}) {
    with(policy_of(1, queue));
    const slot held = taken();
    std::vector<std::unique_ptr<caller>> patient;
    for (unsigned i = 0; i < queue; ++i) patient.push_back(waiting());
    const auto late = waiting();
    EXPECT_TRUE(late->done);
    EXPECT_EQ(late->refused, limit_refusal::full);
    EXPECT_EQ(limit_->figures().refused[static_cast<unsigned>(limit_refusal::full)], 1u);
    for (const auto& each : patient) each->interrupt.raise(async::interrupt::reason::cancelled);
    run();
  }
}

TEST_F(a_limiter, lets_a_quarter_of_the_limit_wait_unless_told_otherwise) {
  concurrency_policy policy = policy_of(8);
  policy.queue.reset();
  with(policy);
  std::vector<slot> held(8);
  for (slot& each : held) each = taken();
  const auto first = waiting(), second = waiting(), third = waiting();
  EXPECT_TRUE(!first->done && !second->done && third->done);
  held.clear();
  run();
}

TEST_F(a_limiter, lets_nobody_wait_longer_than_the_queue_timeout) {
  with(policy_of(1, 3, 20ms));
  const slot held = taken();
  const time_point begun = async::worker::now();
  const auto one = waiting();
  EXPECT_FALSE(one->done);
  run_until_done(*one);
  EXPECT_EQ(one->refused, limit_refusal::full);
  EXPECT_GE(async::worker::now() - begun, 20ms);
  EXPECT_EQ(limit_->figures().waiting, 0u);
}

TEST_F(a_limiter, lets_nobody_wait_beyond_the_deadline) {
  with(policy_of(1));
  const slot held = taken();
  const time_point begun = async::worker::now();
  const auto one = waiting(60ms);
  run_until_done(*one);
  EXPECT_TRUE(one->refused);
  EXPECT_LT(async::worker::now() - begun, 5s);
}

TEST_F(a_limiter, lets_nobody_wait_whose_answer_would_come_too_late) {
  with(policy_of(1));
  slot held = taken();
  teach(held, 500ms);
  const auto hopeless = waiting(400ms), hopeful = waiting(10s);
  EXPECT_EQ(hopeless->refused, limit_refusal::no_time);
  EXPECT_FALSE(hopeful->done);
  held = {};
  run();
  EXPECT_TRUE(hopeful->held);
}

TEST_F(a_limiter, sheds_who_cannot_make_it_any_more_before_it_refuses_another) {
  with(policy_of(1, 2));
  slot held = taken();
  const auto patient = waiting(1h), hurried = waiting(600ms);
  teach(held, 5s);

  const auto next = waiting(1h);

  run();
  EXPECT_FALSE(patient->done);
  EXPECT_EQ(hurried->refused, limit_refusal::no_time);
  EXPECT_FALSE(next->done);
  held = {};
  run();
  EXPECT_TRUE(patient->held);
  patient->held = {};
  run();
  EXPECT_TRUE(next->held);
}

TEST_F(a_limiter, lets_a_caller_leave_the_queue) {
  with(policy_of(1));
  slot held = taken();
  const auto gone = waiting(), next = waiting();
  gone->interrupt.raise(async::interrupt::reason::cancelled);
  run();
  EXPECT_TRUE(gone->done && !gone->held);
  EXPECT_EQ(limit_->figures().refused, decltype(port::limit_figures::refused){}) << "who leaves was not refused";
  held = {};
  run();
  EXPECT_TRUE(next->held);
  next->held = {};
  EXPECT_EQ(limit_->figures().in_flight, 0u);
}

TEST_F(a_limiter, gets_everything_back_when_waiting_frames_are_destroyed) {
  with(policy_of(1));
  slot held = taken();
  const auto served = waiting(), queued = waiting();
  held = {};  // it is the first one's now, who does not know it yet
  EXPECT_EQ(limit_->figures().in_flight, 1u);

  worker->io.abandon();

  EXPECT_FALSE(served->done || queued->done);
  EXPECT_EQ(limit_->figures().in_flight, 0u);
  EXPECT_EQ(limit_->figures().waiting, 0u);
  EXPECT_FALSE(refuses());
}

TEST_F(a_limiter, gives_slots_beyond_the_limit_to_probes) {
  with(policy_of(1));
  slot held = taken();
  slot probe = limit_->force();
  EXPECT_EQ(limit_->figures().in_flight, 2u);
  held = {};
  EXPECT_TRUE(refuses());
  const auto one = waiting();
  probe = {};
  run();
  EXPECT_TRUE(one->held);
}

TEST_F(a_limiter, gives_each_principal_no_more_than_its_share) {
  concurrency_policy policy = policy_of(4);
  policy.principal_share = 0.5;
  with(policy);
  slot first = taken("a");
  const slot second = taken("a");
  EXPECT_TRUE(refuses("a"));
  const auto third = waiting(1h, "a");
  EXPECT_EQ(third->refused, limit_refusal::share) << "at once, though there are free slots";
  EXPECT_FALSE(refuses("b"));
  first = {};
  EXPECT_FALSE(refuses("a"));
}

TEST_F(a_limiter, counts_who_waits_in_the_share_of_its_principal) {
  concurrency_policy policy = policy_of(2);
  policy.principal_share = 0.5;
  with(policy);
  slot held = taken("b");
  const slot other = taken("c");
  const auto waits = waiting(1h, "a"), refused = waiting(1h, "a");
  EXPECT_FALSE(waits->done);
  EXPECT_EQ(refused->refused, limit_refusal::share);
  held = {};
  run();
  EXPECT_TRUE(waits->held);
  waits->held = {};
  EXPECT_FALSE(refuses("a"));
}

TEST_F(a_limiter, gives_the_anonymous_principal_all_and_everyone_one_slot) {
  concurrency_policy policy = policy_of(3);
  policy.principal_share = 0.1;
  with(policy);
  const slot first = taken(), second = taken();
  const slot third = taken("a");
  EXPECT_TRUE(refuses());
}

TEST_F(a_limiter, lets_waiting_calls_in_when_an_adaptive_limit_rises) {
  concurrency_policy policy = policy_of(0);
  policy.limit.reset();
  with(policy);
  std::vector<slot> held(concurrency_policy::adaptive_start);
  for (slot& each : held) each = taken();
  EXPECT_TRUE(refuses());
  const auto one = waiting();
  for (unsigned i = 0; i < cascade::limit_gradient::window_size(20); ++i) held.front().answered(10ms);
  run();
  EXPECT_EQ(limit_->figures().limit, 21u);
  EXPECT_TRUE(one->held);
  EXPECT_NEAR(static_cast<double>(limit_->typical().count()), 10e6, 0.01e6);
}

TEST_F(a_limiter, hands_out_no_more_slots_while_an_adaptive_limit_is_over_filled) {
  concurrency_policy policy = policy_of(0);
  policy.limit.reset();
  with(policy);
  std::vector<slot> held(concurrency_policy::adaptive_start);
  for (slot& each : held) each = taken();
  for (unsigned i = 0; i < cascade::limit_gradient::window_size(20); ++i) held.front().timed_out();
  EXPECT_EQ(limit_->figures().limit, 10u);
  const auto one = waiting();
  held.resize(10);
  run();
  EXPECT_FALSE(one->done);
  held.resize(9);
  run();
  EXPECT_TRUE(one->held);
}

TEST_F(a_limiter, keeps_an_adaptive_limit_within_the_bounds_that_are_configured) {
  concurrency_policy policy = policy_of(0);
  policy.limit.reset();
  policy.least = 18;
  policy.most = 20;
  with(policy);
  slot held[20];
  for (slot& each : held) each = taken();
  for (unsigned i = 0; i < 1000; ++i) held[0].answered(10ms);
  EXPECT_EQ(limit_->figures().limit, 20u);
  for (unsigned i = 0; i < 1000; ++i) held[0].timed_out();
  EXPECT_EQ(limit_->figures().limit, 18u);
}

TEST_F(a_limiter, says_how_it_stands) {
  with(policy_of(1, 3, 20ms));
  const slot held = taken();
  run_until_done(*waiting());
  const port::limit_figures seen = limit_->figures();
  EXPECT_EQ(seen.name, "search__query");
  EXPECT_FALSE(seen.of_server);
  EXPECT_EQ(seen.limit, 1u);
  EXPECT_EQ(seen.in_flight, 1u);
  EXPECT_GE(seen.waits.sum, 20ms);
}

/// Calls of several workers, each holding its slot for a moment.
struct load {
  limiter& limit;
  std::atomic<unsigned> under_way{0}, most{0}, served{0}, refused{0};

  boost::asio::awaitable<void> calls(async::worker& on, std::string_view principal, unsigned number) {
    for (unsigned i = 0; i < number; ++i) {
      async::interrupt interrupt(on.timers);
      interrupt.arm(async::worker::now() + 10s);
      slot held;
      if (!limit.take(principal, held) && co_await limit.wait(on, principal, interrupt, held)) {
        ++refused;
        continue;
      }
      const unsigned now = ++under_way;
      unsigned seen = most.load();
      while (seen < now && !most.compare_exchange_weak(seen, now)) {
      }
      if (i % 3 == 0) {
        boost::asio::steady_timer timer(on.io, 50us);
        co_await timer.async_wait(boost::asio::use_awaitable);
      }
      --under_way;
      ++served;
      held.answered(1ms);
    }
  }
};

void play(limiter& limit, load& all, unsigned number) {
  constexpr unsigned workers = 4, each = 8;
  std::vector<std::unique_ptr<async::worker>> on;
  for (unsigned i = 0; i < workers; ++i) on.push_back(std::make_unique<async::worker>(i));
  for (auto& one : on) {
    for (unsigned i = 0; i < each; ++i) {
      boost::asio::co_spawn(one->io, all.calls(*one, i % 2 == 0 ? "a" : "b", number), boost::asio::detached);
    }
  }
  std::vector<std::thread> threads;
  for (auto& one : on) threads.emplace_back([&io = one->io] { io.run(); });
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(all.served + all.refused, workers * each * number);
  EXPECT_EQ(limit.figures().in_flight, 0u);
  EXPECT_EQ(limit.figures().waiting, 0u);
}

TEST(a_limiter_of_several_workers, keeps_to_its_limit_and_loses_no_slot) {
  limiter limit("t", false, policy_of(5, 1000));
  load all{limit};
  play(limit, all, 300);
  EXPECT_LE(all.most, 5u);
  EXPECT_EQ(all.refused, 0u) << "all could wait";
  EXPECT_EQ(limit.figures().waits.counts.size(), port::wait_lengths::ends.size() + 1);
}

TEST(a_limiter_of_several_workers, refuses_what_it_has_no_room_for) {
  limiter limit("t", false, policy_of(2, 1));
  load all{limit};
  play(limit, all, 300);
  EXPECT_LE(all.most, 2u);
  EXPECT_GT(all.refused, 0u);
}

TEST(a_limiter_of_several_workers, keeps_to_shares_too) {
  concurrency_policy policy = policy_of(6, 4);
  policy.principal_share = 0.5;
  limiter limit("t", false, policy);
  load all{limit};
  play(limit, all, 300);
  EXPECT_LE(all.most, 6u);
}

TEST(a_limiter_of_several_workers, may_be_adaptive) {
  concurrency_policy policy = policy_of(0, 1000);
  policy.limit.reset();
  policy.least = 2;
  policy.most = 8;
  limiter limit("t", false, policy);
  load all{limit};
  play(limit, all, 300);
  EXPECT_LE(all.most, 8u);
  EXPECT_EQ(all.refused, 0u);
}

TEST(limits, are_the_same_for_the_same_name_as_long_as_somebody_knows_them) {
  limiters all;
  const auto tool = all.tool("s__q", policy_of(3));
  EXPECT_EQ(all.tool("s__q", policy_of(3)), tool);
  EXPECT_NE(all.server("s__q", policy_of(3)), tool);
  EXPECT_EQ(all.tool("other", {}), nullptr);

  const auto server = all.server("s", policy_of(5));
  const auto seen = all.figures();
  ASSERT_EQ(seen.size(), 2u) << "the other server's is gone";
  EXPECT_EQ(seen[0].name, "s__q");
  EXPECT_EQ(seen[1].name, "s");
  EXPECT_TRUE(seen[1].of_server);
}

}  // namespace
}  // namespace switchgear::call
