// An authority with its time and its one replica, for tests that tell a story.
#pragma once

#include "breaker/authority.hpp"

#include <vector>

namespace switchgear::breaker {

struct driven_authority {
  explicit driven_authority(const settings& values = {}, breaker::scope which = scope::tool)
      : breaker(which, values, now) {}

  /// One report; keeps what came back.
  const reply& say(report said) {
    said.generation = generation;
    last = breaker.exchange(said, now, random);
    generation = last.view.generation;
    news.insert(news.end(), last.transitions.begin(), last.transitions.end());
    leases.insert(leases.end(), last.leases.begin(), last.leases.end());
    return last;
  }

  /// `good` successes, then `bad` failures.
  const reply& calls(std::uint64_t good, std::uint64_t bad, std::uint64_t slow = 0) {
    report said;
    said.batch.counts = {good + bad, bad, good + bad, slow, 0};
    said.batch.trailing = bad;
    return say(said);
  }
  /// Good and bad ones evenly mixed, the last one good: no run of failures for the outage rule.
  const reply& mixed(std::uint64_t good, std::uint64_t bad) {
    report said;
    said.batch.counts = {good + bad, bad, good + bad, 0, 0};
    return say(said);
  }

  const reply& wait(duration time) {
    now += time;
    return say({});
  }

  /// Asks for probes; `offered` calls came in the last moment.
  const reply& ask(std::uint32_t want, std::uint64_t offered = 1) {
    report said;
    said.want = want;
    said.offered = offered;
    return say(said);
  }

  /// One probe from asking to its end. False when there was no lease.
  bool probe(fate how, bool slow = false) {
    const std::size_t before = leases.size();
    ask(1);
    if (leases.size() == before) return false;
    return settle(how, slow);
  }
  bool settle(fate how, bool slow = false) {
    report said;
    said.probes.push_back({leases.back().token, how, slow});
    leases.pop_back();
    say(said);
    return true;
  }
  /// Probes, one a second, until the state is another or `most` were made.
  void probes(unsigned most, fate how, bool slow = false) {
    for (unsigned i = 0; i < most && probe(how, slow) && state() == breaker::state::half_open; ++i)
      now += std::chrono::seconds(1);
  }

  /// Open by the outage rule, and its stay over.
  void open_and_cooled() {
    calls(0, 9);
    now += last.view.retry_after;
  }

  breaker::state state() const { return breaker.state(); }
  cause why() const { return news.empty() ? cause::none : news.back().cause; }

  time_point now{std::chrono::hours(1)};
  double random = 0.5;  // the middle: no jitter
  authority breaker;
  std::uint64_t generation = 0;
  reply last;
  std::vector<transition> news;
  std::vector<lease> leases;
};

}  // namespace switchgear::breaker
