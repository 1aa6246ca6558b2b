// What a breaker costs a call: admit by two scopes, then record in both. Beside it the same with a mutex, and a bare
// clock reading, so that the figures can be read as ratios on any machine. `allocs` counts allocations a call; the CPU
// column is what counts, since with more threads than idle cores the other one measures the neighbours.
#include "breaker/authority.hpp"
#include "breaker/permit.hpp"

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>

namespace {

thread_local std::uint64_t allocations = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace switchgear::breaker {
namespace {

using namespace std::chrono_literals;

constexpr unsigned most_threads = 2;
constexpr outcome good{verdict::success, false, false};
const time_point moment(1h);

struct gates {
  gate tool{"tool", scope::tool, most_threads, {}};
  gate server{"server:s", scope::server, most_threads, {}};
};

gates& closed() {
  static gates both;
  return both;
}

gates& forced_open() {
  static gates* both = [] {
    auto* made = new gates;
    authority truth(scope::tool, {}, moment);
    truth.obey(order::open, 0s, moment);
    made->tool.apply(truth.sync(moment, 0.5), moment);
    return made;
  }();
  return *both;
}

/// Counts the allocations of the measured loop alone.
class allocation_count {
 public:
  explicit allocation_count(benchmark::State& state) : state_(state), before_(allocations) {}
  ~allocation_count() {
    state_.counters["allocs"] =
        benchmark::Counter(static_cast<double>(allocations - before_), benchmark::Counter::kAvgIterations);
  }

 private:
  benchmark::State& state_;
  std::uint64_t before_;
};

void admit_and_record(benchmark::State& state) {
  gates& on = closed();
  const auto stripe = static_cast<unsigned>(state.thread_index());
  const allocation_count counted(state);
  for (auto _ : state) {
    admission asked(on.tool, on.server, stripe, moment);
    benchmark::DoNotOptimize(asked.permit().settle(good, good, 3ms));
  }
}

void admit_only(benchmark::State& state) {
  gates& on = closed();
  const auto stripe = static_cast<unsigned>(state.thread_index());
  pass into;
  refusal refused;
  for (auto _ : state) benchmark::DoNotOptimize(on.tool.enter(stripe, moment, into, refused));
}

void refuse(benchmark::State& state) {
  gates& on = forced_open();
  const auto stripe = static_cast<unsigned>(state.thread_index());
  const allocation_count counted(state);
  for (auto _ : state) {
    admission asked(on.tool, on.server, stripe, moment);
    benchmark::DoNotOptimize(asked.refusal());
  }
}

// The same bookkeeping behind one lock a scope, as breakers usually have it: state and generation looked at, calls and
// a length counted.
struct locked_gate {
  std::mutex guard;
  std::uint64_t generation = 1;
  breaker::state state = state::closed;
  counts seen;
  latency_counts latency{};

  bool enter(std::uint64_t& admitted) {
    const std::lock_guard lock(guard);
    admitted = generation;
    return state == state::closed;
  }
  void settle(std::uint64_t admitted, const outcome& how, unsigned bucket) {
    const std::lock_guard lock(guard);
    if (admitted != generation) return;
    ++seen.calls;
    ++seen.timed;
    seen.failures += how.verdict == verdict::failure;
    seen.slow += how.slow;
    ++latency[bucket];
  }
};

void same_with_a_mutex(benchmark::State& state) {
  static locked_gate tool, server;
  for (auto _ : state) {
    std::uint64_t tool_generation = 0, server_generation = 0;
    if (!tool.enter(tool_generation) || !server.enter(server_generation)) continue;
    const unsigned bucket = latency_bucket(3ms);
    tool.settle(tool_generation, good, bucket);
    server.settle(server_generation, good, bucket);
  }
}

void one_clock_reading(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(std::chrono::steady_clock::now());
}

BENCHMARK(admit_and_record)->ThreadRange(1, most_threads);
BENCHMARK(same_with_a_mutex)->ThreadRange(1, most_threads);
BENCHMARK(admit_only);
BENCHMARK(refuse);
BENCHMARK(one_clock_reading);

}  // namespace
}  // namespace switchgear::breaker

BENCHMARK_MAIN();
