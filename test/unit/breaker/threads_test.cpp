// Two threads that call and one that drains: nothing is lost and nothing counted twice. Meant for ThreadSanitizer too.
#include "breaker/authority.hpp"
#include "breaker/permit.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace switchgear::breaker {
namespace {

using namespace std::chrono_literals;

constexpr unsigned callers = 2;

TEST(gate_between_threads, loses_no_outcome) {
  // given a breaker that only observes, so that no generation ends
  settings values;
  values.mode = mode::observe;
  gate tool("tool", scope::tool, callers, values), server("server:s", scope::server, callers, values);
  constexpr std::uint64_t calls = 40'000;
  std::atomic<unsigned> running{callers};
  const auto caller = [&](unsigned stripe) {
    for (std::uint64_t i = 0; i < calls; ++i) {
      admission asked = acquire(tool, server, stripe, time_point(1h));
      if (i % 10 == 0) asked.permit().mark_slow();
      asked.permit().settle({i % 20 == 0 ? verdict::failure : verdict::success, false, i % 40 == 0},
                            {verdict::success});
    }
    --running;
  };

  // when two threads call and this one drains
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < callers; ++i) threads.emplace_back(caller, i);
  counts sum;
  std::uint64_t trailing = 0;
  while (running != 0) {
    const report said = tool.collect(time_point(1h));
    sum += said.batch.counts;
    trailing = std::max(trailing, said.batch.trailing);
    EXPECT_LE(said.batch.trailing, said.batch.counts.failures);
  }
  for (std::thread& each : threads) each.join();
  sum += tool.collect(time_point(1h)).batch.counts;

  // then the totals are exact
  EXPECT_EQ(sum, (counts{calls * callers, calls * callers / 20, calls * callers, calls * callers / 10,
                         calls * callers / 40}));
  EXPECT_EQ(server.collect(time_point(1h)).batch.counts.calls, calls * callers);
  EXPECT_EQ(tool.stale(), 0u);
}

TEST(gate_between_threads, never_has_more_probes_in_flight_than_allowed) {
  // given a breaker kept half open: it needs more results than it will get
  settings values;
  values.probes_in_flight = 4;
  values.probes_needed = 1'000'000;
  values.probe_share = 0.25;
  gate tool("tool", scope::tool, callers, values), server("server:s", scope::server, callers, {});
  authority truth(scope::tool, values, time_point(1h));
  truth.obey(order::open, 0s, time_point(1h));
  truth.obey(order::automatic, 0s, time_point(1h));
  time_point start(1h);
  tool.apply(truth.sync(start, 0.5), start);

  std::atomic<int> in_flight{0}, most{0};
  std::atomic<std::uint64_t> probes{0};
  std::atomic<bool> done{false};
  std::atomic<std::int64_t> clock{start.time_since_epoch().count()};
  const auto caller = [&](unsigned stripe) {
    while (!done) {
      const time_point now{duration(clock.load())};
      admission asked = acquire(tool, server, stripe, now);
      if (!asked) {
        std::this_thread::yield();
        continue;
      }
      const int busy = ++in_flight;
      int seen = most;
      while (busy > seen && !most.compare_exchange_weak(seen, busy)) {
      }
      ++probes;
      --in_flight;
      if (probes % 7 == 0) continue;  // dropped: neutral
      asked.permit().settle({verdict::success}, {verdict::success});
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < callers; ++i) threads.emplace_back(caller, i);
  std::uint64_t granted = 0;
  for (int pass = 0; pass < 1'000'000 && (pass < 600 || probes < 100); ++pass) {
    const time_point now{duration(clock += 50'000'000)};
    const reply said = truth.exchange(tool.collect(now), now, 0.5);
    granted += said.leases.size();
    EXPECT_LE(said.figures.probes_in_flight, 4u);
    tool.apply(said, now);
    std::this_thread::yield();
  }
  done = true;
  for (std::thread& each : threads) each.join();

  EXPECT_LE(most, 4);
  EXPECT_GE(probes, 100u);
  EXPECT_LE(probes, granted);
}

}  // namespace
}  // namespace switchgear::breaker
