// What the adaptive limit promises, for servers and callers of many kinds.
#include "queueing_server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace switchgear {
namespace {

using sim::limited_server;

struct course {
  double mean_limit = 0, lowest = 1e9, highest = 0;
  double low = 0;       // share of the time under half of the workers
  double answered = 0;  // a second
  double length = 0;    // seconds, the mean
};

course watch(limited_server& server, double seconds) {
  course seen;
  const std::uint64_t before = server.answered();
  server.take_mean();
  server.run(seconds, [&] {
    const double limit = server.limit();
    seen.mean_limit += limit / 100;
    seen.lowest = std::min(seen.lowest, limit);
    seen.highest = std::max(seen.highest, limit);
    if (limit < server.now_is.workers / 2.) seen.low += 0.01;
  });
  seen.answered = static_cast<double>(server.answered() - before) / seconds;
  seen.length = server.take_mean();
  return seen;
}

/// Callers at `load` times what the server can bear.
sim::surroundings crowd(unsigned workers, double spread, double load = 2) {
  sim::surroundings made{.workers = workers, .spread = spread};
  made.rate = load * workers / made.service;
  return made;
}

/// A fifth, or five calls.
double within(unsigned workers) {
  return std::max(0.2 * workers, 5.);
}

void print(const char* what, unsigned workers, double spread, const course& seen) {
  std::printf("%-24s %3u workers, spread %.1f: limit %6.1f (%3.0f to %3.0f), %6.1f calls/s, %7.1f ms\n", what, workers,
              spread, seen.mean_limit, seen.lowest, seen.highest, seen.answered, seen.length * 1e3);
}

TEST(an_adaptive_limit, finds_the_knee_of_a_server) {
  const std::uint64_t seed = sim::printed_seed("knee");
  for (const unsigned workers : {20U, 50U, 100U, 200U}) {
    for (const double spread : {0.0, 0.3, 1.0}) {
      limited_server server(crowd(workers, spread), seed);
      server.run(120);
      const course seen = watch(server, 600);
      print("knee", workers, spread, seen);
      EXPECT_NEAR(seen.mean_limit, workers, within(workers));
      EXPECT_GE(seen.answered, 0.85 * workers / server.now_is.service);
      EXPECT_LE(seen.length, 1.35 * server.now_is.service);
    }
  }
}

TEST(an_adaptive_limit, follows_a_server_that_slows_down_tenfold_and_comes_back) {
  const std::uint64_t seed = sim::printed_seed("tenfold");
  for (const unsigned workers : {20U, 100U}) {
    for (const double spread : {0.0, 1.0}) {
      limited_server server(crowd(workers, spread), seed);
      server.run(120);
      server.now_is.service *= 10;
      server.run(120);
      const course slow = watch(server, 600);
      print("ten times slower", workers, spread, slow);
      EXPECT_NEAR(slow.mean_limit, workers, within(workers) + 1);
      EXPECT_LE(slow.length, 1.5 * server.now_is.service);
      server.now_is.service /= 10;
      server.run(60);
      const course back = watch(server, 300);
      print("and back", workers, spread, back);
      EXPECT_NEAR(back.mean_limit, workers, within(workers) + 1);
      EXPECT_LE(back.length, 1.35 * server.now_is.service);
    }
  }
}

TEST(an_adaptive_limit, follows_a_server_that_loses_most_of_its_workers_and_gets_them_back) {
  const std::uint64_t seed = sim::printed_seed("workers");
  for (const double spread : {0.0, 1.0}) {
    limited_server server(crowd(100, spread), seed);
    server.run(120);
    server.now_is.workers = 25;
    server.run(120);
    const course fewer = watch(server, 300);
    print("a quarter is left", 25, spread, fewer);
    EXPECT_NEAR(fewer.mean_limit, 25, 2 * within(25));
    server.now_is.workers = 100;
    server.run(60);
    const course back = watch(server, 300);
    print("and back", 100, spread, back);
    EXPECT_NEAR(back.mean_limit, 100, within(100));
  }
}

TEST(an_adaptive_limit, does_not_collapse_by_chance) {
  const std::uint64_t seed = sim::printed_seed("chance");
  for (const unsigned workers : {20U, 100U}) {
    limited_server server(crowd(workers, 1), seed);
    server.now_is.outliers = 0.02;
    server.run(120);
    const course seen = watch(server, 2000);
    print("2 % take 20 times", workers, 1, seen);
    EXPECT_LE(seen.low, 0.1);
    EXPECT_GE(seen.mean_limit, 0.7 * workers);
  }
}

TEST(an_adaptive_limit, does_not_rise_when_nobody_needs_it) {
  const std::uint64_t seed = sim::printed_seed("unused");
  limited_server server(crowd(100, 1, 0.03), seed);
  const course seen = watch(server, 20'000);
  print("three calls at once", 100, 1, seen);
  EXPECT_LE(seen.highest, 35);
  EXPECT_GE(seen.lowest, 15);
  EXPECT_EQ(server.refused(), 0u);
}

TEST(an_adaptive_limit, refuses_hardly_anybody_below_the_knee) {
  const std::uint64_t seed = sim::printed_seed("below");
  limited_server server(crowd(100, 1, 0.5), seed);
  server.run(180);
  const std::uint64_t before = server.refused();
  const course seen = watch(server, 600);
  print("half of what it can", 100, 1, seen);
  EXPECT_LE(static_cast<double>(server.refused() - before), 0.01 * seen.answered * 600);
}

TEST(an_adaptive_limit, shrinks_when_calls_run_into_their_deadline) {
  limited_server server(crowd(50, 0), sim::printed_seed("hung"));
  server.run(120);
  server.now_is.service = 40;  // with a deadline of 30
  server.run(2000);
  EXPECT_EQ(server.limit(), 4u);
}

}  // namespace
}  // namespace switchgear
