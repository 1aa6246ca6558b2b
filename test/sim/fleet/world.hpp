// Plays a schedule: gateways, a network between them and Redis, and calls, on one virtual clock.
#pragma once

#include "sim/fleet/gateway.hpp"
#include "sim/fleet/remote.hpp"
#include "sim/fleet/watcher.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <vector>

namespace switchgear::sim::fleet {

struct tally {
  std::uint64_t events = 0, calls = 0, admitted = 0, exchanges = 0, transitions = 0;
  std::uint64_t lost = 0, repeated = 0, late = 0, crashes = 0, failovers = 0, forgotten = 0, steps = 0, alone = 0;

  tally& operator+=(const tally& more);
};

class world {
 public:
  /// `redis` is emptied.
  world(remote& redis, const schedule& of);
  ~world();

  /// Plays it all, and then a time of health, in which every breaker must close. The first thing that does not hold.
  std::optional<violation> run();
  const tally& count() const { return count_; }
  const watcher& seen() const { return watcher_; }
  /// When Redis came to that generation, since the start of the run.
  std::optional<micros> entered(breaker::scope which, std::uint64_t generation) const;

 private:
  struct running;  // call
  struct parcel;   // questions under way, and their answers
  struct happening {
    micros at;
    std::uint64_t order;  // among those of one moment
    std::function<void()> what;
    bool operator<(const happening& other) const {
      return at != other.at ? at > other.at : order > other.order;  // earliest first
    }
  };

  void play(const call& it);
  void play(const flush& it);
  void play(const order& it);
  void play(const crash& it);
  void play(const step& it);
  void play(const remember& it);
  void play(const failover& it);
  void play(const forget& it);

  const truth& of(breaker::scope which) const { return watcher_.of(which); }
  gateway& at(unsigned number) { return *gateways_[number]; }
  void advance(micros to);
  void later(micros at, std::function<void()> what) { coming_.push({at, next_++, std::move(what)}); }
  void deliver(parcel& what, bool first);
  void conclude(parcel& what);
  void pass_the_limit(std::uint64_t id);
  void end_call(std::uint64_t id);
  void forget_call(const running& it);
  void recover();
  bool at_rest();

  static constexpr time_point start{std::chrono::hours(1000)};
  time_point truly() const { return start + now_; }
  // Each gateway's clock has another beginning.
  time_point clock_of(unsigned number) const { return truly() + std::chrono::minutes(17) * number; }
  std::int64_t redis_reading() const { return 1'700'000'000'000'000 + (now_ + redis_offset_).count(); }

  remote& redis_;
  const schedule& schedule_;
  watcher watcher_;
  std::vector<std::unique_ptr<gateway>> gateways_;
  std::map<std::uint64_t, std::unique_ptr<running>> calls_;
  std::priority_queue<happening> coming_;
  std::uint64_t next_ = 0;
  micros now_{};
  micros redis_offset_{};
  tally count_;
};

}  // namespace switchgear::sim::fleet
