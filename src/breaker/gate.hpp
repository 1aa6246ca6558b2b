// One scope on this replica: what data threads ask before a call and tell after it. One atomic word decides.
#pragma once

#include "base/time.hpp"
#include "breaker/latency.hpp"
#include "breaker/outcome.hpp"
#include "breaker/report.hpp"
#include "breaker/settings.hpp"
#include "breaker/words.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace switchgear::breaker {

class gate;

/// Why a call may not be made.
struct refusal {
  enum class reason : std::uint8_t {
    open,       ///< the cooldown runs
    half_open,  ///< every probe's place is taken
    ramp,       ///< just closed again: only a part of the calls is admitted
    forced,     ///< the operator opened it
  };
  breaker::gate* gate = nullptr;  ///< the scope that refused
  time_point since{};             ///< in its state since then
  duration retry_after{};         ///< a caller may hope then; never negative
  duration probe_wait{};          ///< a probe's place may come free within this length; 0 = waiting is pointless
  refusal::reason why = reason::open;
  breaker::state state = breaker::state::open;
};

/// What a permit remembers of one scope.
struct pass {
  static constexpr std::int8_t no_place = -1;   // admitted while closed
  static constexpr std::int8_t uncounted = -2;  // disabled: nothing is recorded

  breaker::gate* gate = nullptr;
  std::uint64_t generation = 0;
  time_point deadline = time_point::max();  // of the probe's lease
  std::int8_t place = no_place;             // of the probe, 0..63
  bool marked = false;                      // already counted as slow
};

/// Data threads call enter(), settle(), mark_slow() and give_back() through permit (breaker/permit.hpp), each with its
/// own stripe number. collect(), apply(), configure() and the latency reader belong to one other thread, the drainer.
/// Closed path: one acquire load to enter; plain relaxed stores of a single writer to settle. No read-modify-write, no
/// allocation, no lock, no clock. A count carries the low 16 bits of its generation, so that a late result cannot
/// land among those of another generation. Never moves; lives as long as the process's breakers.
class gate {
 public:
  /// `stripes`: how many threads enter (worker indices 0..stripes-1).
  gate(std::string name, breaker::scope scope, unsigned stripes, const settings& values);
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;
  ~gate();

  const std::string& name() const { return name_; }
  breaker::scope scope() const { return scope_; }

  /// A call that takes longer is slow; zero = the p99 rule is off. Any thread.
  duration slow_after() const { return duration(slow_after_.load(std::memory_order_relaxed)); }
  std::uint64_t generation() const { return word_.load(std::memory_order_acquire) >> flag_bits; }
  breaker::state state() const {
    return static_cast<breaker::state>(word_.load(std::memory_order_acquire) & state_mask);
  }

  // data threads

  /// Leave to call, written to `into`; or false and `refused` filled.
  bool enter(unsigned stripe, time_point now, pass& into, refusal& refused) noexcept {
    const std::uint64_t word = word_.load(std::memory_order_acquire);
    into.gate = this;
    into.generation = word >> flag_bits;
    if ((word & flag_mask) == 0) [[likely]]
      return true;
    return enter_watched(word, stripe, now, into, refused);
  }

  /// Records how the call ended; `bucket` is latency_bucket(its length). True: the drainer should hear of it at once.
  bool settle(const pass& held, unsigned stripe, const outcome& how, unsigned bucket) noexcept {
    if (held.place != pass::no_place || held.marked || how.slow || how.verdict != verdict::success) [[unlikely]]
      return settle_rare(held, stripe, how, bucket);
    auto& mine = stripes_[stripe];
    if (!count(mine.good, held.generation)) [[unlikely]]
      return stale(mine);
    note_success(mine);
    bump(mine.latency[bucket]);
    return false;
  }

  /// The running call has just passed slow_after(). True: the drainer should hear of it.
  bool mark_slow(pass& held, unsigned stripe) noexcept;

  /// The call was not made: no outcome, and a probe's lease lies ready again for another call.
  void give_back(const pass& held) noexcept;

  // the drainer

  /// What happened since the last time. Lengths of leases are kept against `now`.
  report collect(time_point now);
  /// As collect(), but wants nothing more: leases that lie ready are given back. When no more calls come.
  report conclude(time_point now);
  /// Installs what the authority said of a report that was collected at `sent`. An older generation is ignored.
  void apply(const reply& said, time_point sent);
  void configure(const settings& values);

  /// All calls by length since the process began. Wraps around.
  latency_counts latency() const;
  std::uint64_t refused() const;  ///< calls refused since the process began
  std::uint64_t stale() const;    ///< results that came after their generation had ended
  /// Lets one call wait for a probe's place; false when another waits already. end_wait() frees the place in the queue.
  bool begin_wait() noexcept { return !waiting_.exchange(true, std::memory_order_acq_rel); }
  void end_wait() noexcept { waiting_.store(false, std::memory_order_release); }
  /// How long a call may wait for a probe's place. Any thread.
  duration probe_wait() const { return duration(probe_wait_.load(std::memory_order_relaxed)); }
  /// A flag from data threads to the drainer: there is something to hear. True when it was not up yet.
  bool raise() noexcept { return !raised_.exchange(true, std::memory_order_acq_rel); }
  bool take_raised() noexcept { return raised_.exchange(false, std::memory_order_acq_rel); }
  /// A lease lies ready. Any thread; may be taken a moment later.
  bool probe_ready() const noexcept { return offered_.load(std::memory_order_acquire) != 0; }

 private:
  // word: generation 56 | ramp 3 | forced 1 | mode 2 | state 2
  static constexpr unsigned flag_bits = 8;
  static constexpr std::uint64_t flag_mask = 0xff;
  static constexpr std::uint64_t state_mask = 0x03;
  static constexpr unsigned mode_shift = 2;
  static constexpr std::uint64_t forced_flag = 0x10;
  static constexpr unsigned ramp_shift = 5;
  static constexpr unsigned count_bits = 48;  // of a counter; the generation's low 16 bits stand above
  static constexpr std::uint64_t count_mask = (std::uint64_t{1} << count_bits) - 1;

  using counter = std::atomic<std::uint64_t>;

  // Disjoint cells: each call touches one of good, bad, or marked and then one of good_late, bad_late. So the usual
  // call costs one counter, and sums never need a decrement.
  struct alignas(64) stripe {
    counter good{0};       // success within the limit
    counter bad{0};        // failure within the limit
    counter marked{0};     // passed the limit
    counter good_late{0};  // success of a marked call
    counter bad_late{0};   // failure of a marked call
    counter connects{0};   // of bad and bad_late
    counter seen{0};       // failures_ as it stood at this stripe's last success
    counter offered{0};    // not by generation, as all that follow
    counter refused{0};
    counter stale{0};
    counter ramp{0};
    std::array<std::atomic<std::uint32_t>, latency_buckets> latency{};
  };

  // What the drainer remembers of a stripe's counters.
  struct tally {
    std::uint64_t good = 0, bad = 0, marked = 0, good_late = 0, bad_late = 0, connects = 0, offered = 0;
  };

  // A probe's place. Plain members: whoever owns the place (see offered_, settled_) may touch them.
  struct place {
    std::uint64_t token = 0;
    std::uint64_t generation = 0;
    time_point use_by{};
    time_point result_by{};
    breaker::fate fate = breaker::fate::unused;
    bool slow = false;
  };
  static constexpr unsigned places = 64;

  static constexpr std::uint64_t stamp(std::uint64_t generation) { return generation << count_bits; }

  template <class T>
  static void bump(std::atomic<T>& cell) noexcept {
    cell.store(cell.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  // One more under `generation`, unless that generation is over. A stamp that differs is of an older generation: this
  // stripe has one writer, and the generation it read only rises.
  bool count(counter& cell, std::uint64_t generation) noexcept {
    if ((word_.load(std::memory_order_relaxed) >> flag_bits) != generation) [[unlikely]]
      return false;
    const std::uint64_t value = cell.load(std::memory_order_relaxed);
    const bool same = (value & ~count_mask) == stamp(generation);
    cell.store(same ? value + 1 : stamp(generation) + 1, std::memory_order_relaxed);
    return true;
  }

  // Successes need no order among themselves; only "how many failures came after the last success" is wanted.
  void note_success(stripe& mine) noexcept {
    const std::uint64_t failures = failures_.load(std::memory_order_relaxed);
    if (mine.seen.load(std::memory_order_relaxed) != failures) mine.seen.store(failures, std::memory_order_relaxed);
  }

  static bool stale(stripe& mine) noexcept {
    bump(mine.stale);
    return false;
  }

  bool enter_watched(std::uint64_t word, unsigned stripe, time_point now, pass& into, refusal& refused) noexcept;
  bool refuse(std::uint64_t word, refusal::reason why, unsigned stripe, time_point now, refusal& refused) noexcept;
  bool take_place(std::uint64_t generation, time_point now, pass& into) noexcept;
  bool settle_rare(const pass& held, unsigned stripe, const outcome& how, unsigned bucket) noexcept;
  bool settle_probe(const pass& held, const outcome& how) noexcept;
  void note_failure(std::uint64_t generation) noexcept;

  batch drain(std::uint64_t generation);
  void collect_probes(time_point now, std::uint64_t generation, report& into);
  void take_back(std::uint64_t which, report* into);
  void offer(const lease& granted, std::uint64_t generation, time_point sent);

  // Read by every call, written at transitions; failures_ at failures.
  alignas(64) std::atomic<std::uint64_t> word_{0};
  std::unique_ptr<stripe[]> stripes_;
  counter failures_{0};  // of the present generation, stamped; orders failures against successes
  std::atomic<std::int64_t> slow_after_{0};

  // Read only when not simply closed.
  alignas(64) std::atomic<std::int64_t> since_{0};
  std::atomic<std::int64_t> until_{0};
  std::atomic<std::int64_t> next_lease_{0};
  std::atomic<std::int64_t> probe_wait_{0};
  std::atomic<std::int64_t> probe_timeout_{0};
  std::atomic<std::int64_t> ramp_step_{0};
  std::atomic<std::uint64_t> offered_{0};  // places with a lease ready; clearing a bit takes the place
  std::atomic<std::uint64_t> settled_{0};  // places whose probe has ended; the drainer clears
  std::atomic<bool> waiting_{false};
  std::atomic<bool> raised_{false};
  std::unique_ptr<place[]> places_;

  // The drainer's own.
  alignas(64) unsigned stripe_count_;
  std::unique_ptr<tally[]> tallies_;
  std::uint64_t held_ = 0;  // places with a lease
  std::uint64_t told_ = 0;  // of held_: reported as used
  time_point last_collect_{};
  std::string name_;
  breaker::scope scope_;
};

}  // namespace switchgear::breaker
