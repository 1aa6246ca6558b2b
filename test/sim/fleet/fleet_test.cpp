// Hours of a fleet on a real Redis' rules, with everything that may go wrong, under the eyes of a watcher.
#include "sim/dice.hpp"
#include "sim/fleet/schedule.hpp"
#include "sim/fleet/shrink.hpp"
#include "sim/fleet/world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace switchgear::sim::fleet {
namespace {

using namespace std::chrono_literals;

std::chrono::seconds seconds_from(const char* variable, unsigned otherwise) {
  const char* const given = std::getenv(variable);
  return std::chrono::seconds(given != nullptr ? std::strtoul(given, nullptr, 10) : otherwise);
}

/// What broke, and the shortest way there.
std::string trace_of(remote& redis, const schedule& failing, const violation& what) {
  std::optional<violation> last = what;
  const schedule least = shortest(
      failing,
      [&](const schedule& tried) {
        const auto broken = world(redis, tried).run();
        if (!broken || broken->invariant != what.invariant) return false;
        last = broken;
        return true;
      },
      seconds_from("SWITCHGEAR_SHRINK_SECONDS", 12));
  std::string text = last->text + "\nSWITCHGEAR_SEED=" + std::to_string(failing.seed) + " repeats it; " +
                     std::to_string(least.gateways) + " gateways, " + std::to_string(least.events.size()) + " of " +
                     std::to_string(failing.events.size()) + " events are enough:\n";
  for (const event& each : least.events) text += describe(each) + "\n";
  return text + "then calls that succeed, on a network that works\n";
}

void print(const tally& all, std::uint64_t runs) {
  const auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf("%llu schedules: %llu events, %llu calls (%llu admitted), %llu exchanges, %llu transitions\n",
              number(runs), number(all.events), number(all.calls), number(all.admitted), number(all.exchanges),
              number(all.transitions));
  std::printf(
      "  %llu requests and %llu answers lost or late, %llu repeated, %llu exchanges alone, %llu crashes, "
      "%llu failovers, %llu deletions, %llu clock steps\n",
      number(all.lost), number(all.late), number(all.repeated), number(all.alone), number(all.crashes),
      number(all.failovers), number(all.forgotten), number(all.steps));
}

TEST(a_fleet, keeps_every_promise_whatever_goes_wrong) {
  // given
  remote redis;
  const bool one = std::getenv("SWITCHGEAR_SEED") != nullptr;
  const std::uint64_t first = printed_seed("fleet");
  const auto end = std::chrono::steady_clock::now() + seconds_from("SWITCHGEAR_FLEET_SECONDS", 20);
  tally all;
  std::uint64_t runs = 0;
  // when
  do {
    const schedule next = troubled(first + runs);
    world played(redis, next);
    const std::optional<violation> broken = played.run();
    // then
    if (broken) FAIL() << trace_of(redis, next, *broken);
    all += played.count();
    ++runs;
  } while (!one && std::chrono::steady_clock::now() < end);
  print(all, runs);
  if (one) return;
  // It was no idle walk.
  EXPECT_GT(all.transitions, 10 * runs);
  for (const std::uint64_t some :
       {all.lost, all.late, all.repeated, all.alone, all.crashes, all.failovers, all.forgotten, all.steps}) {
    EXPECT_GT(some, runs / 2);
  }
}

TEST(a_trace, is_cut_down_to_the_events_that_it_needs) {
  schedule failing;
  for (int i = 0; i < 500; ++i) failing.events.push_back({micros(i), remember{}});
  unsigned tried = 0;
  const schedule least = shortest(
      failing,
      [&](const schedule& some) {
        ++tried;
        const auto has = [&](int at) {
          return std::ranges::find(some.events, micros(at), &event::at) != some.events.end();
        };
        return has(17) && has(350);
      },
      10s);
  ASSERT_EQ(least.events.size(), 2u);
  EXPECT_EQ(least.events[0].at, micros(17));
  EXPECT_EQ(least.events[1].at, micros(350));
  EXPECT_LT(tried, 200u);
}

// I11: ceil(h / weight of a failure) failed calls open it, 9 by default, whatever good history stands before them. What
// comes while an exchange is due, at the beginning and at the end, comes on top.
TEST(a_fleet, finds_an_outage_within_nine_failures_and_a_flush) {
  remote redis;
  duration slowest{};
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const unsigned gateways : {1u, 2u, 4u}) {
      // given
      const micros health = 5s, due = 101ms;
      const schedule dying = outage(seed, gateways, health, 7s, 40.0 / gateways);
      // when
      world played(redis, dying);
      const auto broken = played.run();
      // then
      ASSERT_FALSE(broken) << trace_of(redis, dying, *broken);
      const auto opened = played.entered(breaker::scope::tool, 1);
      ASSERT_TRUE(opened);
      const auto failures = std::ranges::count_if(dying.events, [&](const event& each) {
        const call* const made = std::get_if<call>(&each.what);
        return made != nullptr && each.at + made->took >= health + due && each.at + made->took < *opened - due;
      });
      EXPECT_LE(failures, 9) << gateways << " gateways, seed " << seed;
      slowest = std::max<duration>(slowest, *opened - health);
    }
  }
  std::printf("40 calls a second over 1, 2 and 4 gateways, 30 runs: an outage is found within %.0f ms\n",
              std::chrono::duration<double, std::milli>(slowest).count());
}

// I10: without a word of news, by the exchange that is due at the latest.
TEST(a_fleet, knows_everywhere_within_a_flush) {
  remote redis;
  duration longest{};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const schedule dying = outage(seed, 4, 2s, 6s, 20);
    world played(redis, dying);
    const auto broken = played.run();
    ASSERT_FALSE(broken) << trace_of(redis, dying, *broken);
    EXPECT_GE(played.seen().transitions(), 3u);
    longest = std::max(longest, played.seen().longest_lag());
  }
  EXPECT_LE(longest, 102ms);
  std::printf("4 gateways, 5 runs: the last one knows a change after %.1f ms\n",
              std::chrono::duration<double, std::milli>(longest).count());
}

}  // namespace
}  // namespace switchgear::sim::fleet
