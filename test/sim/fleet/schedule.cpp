#include "sim/fleet/schedule.hpp"

#include "sim/dice.hpp"

#include <algorithm>

namespace switchgear::sim::fleet {

using namespace std::chrono_literals;
using breaker::scope;
using breaker::verdict;

namespace {

/// How the upstream is for a while.
struct mood {
  double failing, connect, cancelled, slow;
  bool for_one_gateway;  // whose own road is broken
};
constexpr mood moods[] = {
    {0.01, 0, 0.02, 0.002, false}, {0.01, 0, 0.1, 0.01, false}, {1, 0, 0.05, 0, false}, {0.4, 0, 0.02, 0, false},
    {0.01, 0, 0.2, 0.5, false},    {1, 1, 0, 0, false},         {1, 0, 0, 0, true},
};

/// How the network between a gateway and Redis is for a while.
enum class road { fine, lossy, slow, cut };

class author {
 public:
  explicit author(std::uint64_t seed) : dice_(seed) { made_.seed = seed; }

  schedule write() {
    made_.gateways = 2 + static_cast<unsigned>(dice_.below(3));
    made_.tool = settings();
    made_.server = settings();
    if (dice_.chance(0.15)) made_.tool.mode = dice_.chance(0.5) ? breaker::mode::observe : breaker::mode::disabled;
    calls();
    for (unsigned i = 0; i < made_.gateways; ++i) flushes(i);
    now_and_then(15s, [this] { return crash{any_gateway()}; });
    now_and_then(20s, [this] {
      return order{any_gateway(), any_scope(), static_cast<breaker::order>(dice_.below(4)),
                   dice_.chance(0.7) ? after(3s) : 0us};
    });
    now_and_then(10s, [this] { return step{clock_step()}; });
    now_and_then(4s, [] { return remember{}; });
    now_and_then(20s, [] { return failover{}; });
    now_and_then(30s, [this] { return forget{any_scope(), dice_.chance(0.5)}; });
    std::ranges::sort(made_.events, {}, &event::at);
    return std::move(made_);
  }

 private:
  static constexpr micros length = 40s;

  micros after(micros mean) {
    return micros(1 + static_cast<std::int64_t>(dice_.exponential(static_cast<double>(mean.count()))));
  }
  unsigned any_gateway() { return static_cast<unsigned>(dice_.below(made_.gateways)); }
  scope any_scope() { return dice_.chance(0.7) ? scope::tool : scope::server; }

  template <class Make>
  void now_and_then(micros mean, Make make) {
    for (micros at = after(mean); at < length; at += after(mean)) made_.events.push_back({at, make()});
  }

  // Short lengths, so that much happens in a minute.
  breaker::settings settings() {
    breaker::settings s;
    s.window = 10s;
    s.minimum_calls = 10;
    if (dice_.chance(0.5)) s.certainty = std::nullopt;
    s.error_rate = 0.3;
    s.p99 = dice_.chance(0.5) ? duration(200ms) : duration::zero();
    s.cooldown = 1s;
    s.max_cooldown = 3s;
    s.probe_share = 0.25;
    s.probes_in_flight = 1 + static_cast<std::uint32_t>(dice_.below(4));
    s.probes_needed = 2 + static_cast<std::uint32_t>(dice_.below(4));
    s.probe_failures_allowed = static_cast<std::uint32_t>(dice_.below(2));
    s.probe_timeout = 1s;
    s.ramp = dice_.chance(0.5) ? duration(2s) : duration::zero();
    return s;
  }

  void calls() {
    mood present = moods[0];
    micros until{};
    unsigned sick = 0;
    const micros between = 60ms / made_.gateways;
    for (micros at = after(between); at < length; at += after(between)) {
      if (at >= until) {
        present = moods[dice_.below(std::size(moods))];
        sick = any_gateway();
        until = at + after(5s);
      }
      call made{any_gateway(), after(30ms), verdict::success, false, dice_.chance(present.cancelled)};
      const bool touched = !present.for_one_gateway || made.gateway == sick;
      if (touched && dice_.chance(present.failing)) made.how = verdict::failure;
      made.connect = dice_.chance(present.connect);
      if (dice_.chance(present.slow)) made.took = after(1s);
      if (dice_.chance(0.01)) made.took = after(20s);  // admitted in one period, over in another
      if (dice_.chance(0.01)) made.how = verdict::neutral;
      made_.events.push_back({at, made});
    }
  }

  void flushes(unsigned gateway) {
    road present = road::fine;
    micros until{};
    for (micros at = after(100ms); at < length; at += 20ms + after(80ms)) {
      if (at >= until) {
        const double kind = dice_.unit();
        present = kind < 0.6 ? road::fine : kind < 0.8 ? road::lossy : kind < 0.9 ? road::slow : road::cut;
        until = at + after(3s);
      }
      made_.events.push_back({at, one_flush(gateway, present)});
    }
  }

  flush one_flush(unsigned gateway, road present) {
    flush made{gateway, after(300us), after(300us), std::nullopt};
    switch (present) {
      case road::fine:
        break;
      case road::lossy:
        if (dice_.chance(0.2)) made.there = std::nullopt;
        if (dice_.chance(0.2)) made.back = std::nullopt;
        if (dice_.chance(0.2)) made.again = after(100ms);
        if (dice_.chance(0.1)) made.cut = static_cast<unsigned>(dice_.below(3));
        break;
      case road::slow:
        made.there = after(40ms);  // and so one overtakes another
        made.back = after(20ms);
        break;
      case road::cut:
        made.there = std::nullopt;
        break;
    }
    return made;
  }

  micros clock_step() {
    if (dice_.chance(0.5)) return micros(static_cast<std::int64_t>(dice_.below(1'600'000)) - 800'000);  // jitter
    return dice_.chance(0.5) ? micros(1h) : -micros(1h);
  }

  dice dice_;
  schedule made_;
};

}  // namespace

schedule troubled(std::uint64_t seed) {
  return author(seed).write();
}

schedule outage(std::uint64_t seed, unsigned gateways, micros health, micros length, double calls_a_second) {
  dice random(seed);
  schedule made;
  made.seed = seed;
  made.gateways = gateways;
  made.tool.cooldown = made.server.cooldown = 1s;
  for (unsigned i = 0; i < gateways; ++i) {
    const double between = 1e6 / calls_a_second;
    for (micros at{}; at < length; at += micros(1 + static_cast<std::int64_t>(random.exponential(between)))) {
      const bool dead = at >= health;
      made.events.push_back({at, call{i, 2ms, dead ? verdict::failure : verdict::success, false, false}});
    }
    const micros first(random.below(100'000));
    for (micros at = first; at < length; at += 100ms) {
      made.events.push_back({at, flush{i, micros(300), micros(300), std::nullopt}});
    }
  }
  std::ranges::sort(made.events, {}, &event::at);
  return made;
}

}  // namespace switchgear::sim::fleet
