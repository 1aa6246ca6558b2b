#include "breaker/gate.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace switchgear::breaker {
namespace {

constexpr std::uint64_t bit(unsigned place) {
  return std::uint64_t{1} << place;
}

std::int64_t ticks(time_point moment) {
  return moment.time_since_epoch().count();
}

time_point moment(std::int64_t ticks) {
  return time_point(duration(ticks));
}

time_point later(time_point from, duration by) {
  return by < time_point::max() - from ? from + by : time_point::max();
}

// Calls `visit` with the index of each set bit.
template <class Visit>
void for_each_bit(std::uint64_t set, Visit visit) {
  for (; set != 0; set &= set - 1) visit(static_cast<unsigned>(std::countr_zero(set)));
}

}  // namespace

gate::gate(std::string name, breaker::scope scope, unsigned stripes, const settings& values)
    : stripes_(std::make_unique<stripe[]>(stripes)),
      next_lease_(ticks(time_point::max())),
      places_(std::make_unique<place[]>(places)),
      stripe_count_(stripes),
      tallies_(std::make_unique<tally[]>(stripes)),
      name_(std::move(name)),
      scope_(scope) {
  configure(values);
  word_.store(static_cast<std::uint64_t>(values.mode) << mode_shift, std::memory_order_release);
}

gate::~gate() = default;

void gate::configure(const settings& values) {
  slow_after_.store(values.p99.count(), std::memory_order_relaxed);
  probe_wait_.store(values.probe_wait.count(), std::memory_order_relaxed);
  probe_timeout_.store(values.probe_timeout.count(), std::memory_order_relaxed);
  ramp_step_.store(values.ramp.count() / 4, std::memory_order_relaxed);
}

// Data threads.

bool gate::enter_watched(std::uint64_t word, unsigned stripe, time_point now, pass& into, refusal& refused) noexcept {
  using reason = refusal::reason;
  if ((word & forced_flag) != 0) return refuse(word, reason::forced, stripe, now, refused);
  const auto mode = static_cast<breaker::mode>((word >> mode_shift) & 3);
  if (mode == mode::disabled) {
    into.place = pass::uncounted;
    return true;
  }
  if (mode == mode::observe) return true;

  auto& mine = stripes_[stripe];
  bump(mine.offered);
  switch (static_cast<breaker::state>(word & state_mask)) {
    case state::open:
      return refuse(word, reason::open, stripe, now, refused);
    case state::half_open:
      return take_place(into.generation, now, into) || refuse(word, reason::half_open, stripe, now, refused);
    case state::closed:
      break;
  }
  const std::uint64_t quarters = (word & flag_mask) >> ramp_shift;
  const std::uint64_t turn = mine.ramp.load(std::memory_order_relaxed);
  mine.ramp.store(turn + 1, std::memory_order_relaxed);
  return (turn & 3) < quarters || refuse(word, reason::ramp, stripe, now, refused);
}

bool gate::refuse(std::uint64_t word, refusal::reason why, unsigned stripe, time_point now, refusal& refused) noexcept {
  bump(stripes_[stripe].refused);
  refused.gate = this;
  refused.state = static_cast<breaker::state>(word & state_mask);
  refused.why = why;
  refused.since = moment(since_.load(std::memory_order_relaxed));
  const time_point next = moment(next_lease_.load(std::memory_order_relaxed));
  switch (why) {
    case refusal::reason::open:
    case refusal::reason::forced:
      refused.retry_after = std::max(moment(until_.load(std::memory_order_relaxed)) - now, duration::zero());
      break;
    case refusal::reason::half_open:
      refused.retry_after = std::chrono::seconds(1);  // leases are dealt by the second
      break;
    case refusal::reason::ramp:
      refused.retry_after = duration(ramp_step_.load(std::memory_order_relaxed));
      break;
  }
  const duration wait(probe_wait_.load(std::memory_order_relaxed));
  const bool promising = (why == refusal::reason::open || why == refusal::reason::half_open) && next <= now + wait;
  refused.probe_wait = promising ? wait : duration::zero();
  return false;
}

bool gate::take_place(std::uint64_t generation, time_point now, pass& into) noexcept {
  std::uint64_t ready = offered_.load(std::memory_order_acquire);
  while (ready != 0) {
    const auto which = static_cast<unsigned>(std::countr_zero(ready));
    if (!offered_.compare_exchange_weak(ready, ready & ~bit(which), std::memory_order_acq_rel,
                                        std::memory_order_acquire))
      continue;
    place& mine = places_[which];  // ours since the bit was cleared
    if (mine.generation == generation && now < mine.use_by) {
      const duration timeout(probe_timeout_.load(std::memory_order_relaxed));
      into.place = static_cast<std::int8_t>(which);
      into.deadline = std::min(later(now, timeout), mine.result_by);
      return true;
    }
    mine.fate = fate::unused;
    settled_.fetch_or(bit(which), std::memory_order_release);
    ready = offered_.load(std::memory_order_acquire);
  }
  return false;
}

bool gate::settle_rare(const pass& held, unsigned stripe, const outcome& how, unsigned bucket) noexcept {
  if (held.place >= 0) return settle_probe(held, how);
  if (held.place == pass::uncounted) return false;

  auto& mine = stripes_[stripe];
  const bool newly_slow = how.slow && !held.marked;
  if (newly_slow && !count(mine.marked, held.generation)) return stale(mine);
  if (how.verdict == verdict::neutral) return newly_slow;

  const bool failed = how.verdict == verdict::failure, late = how.slow || held.marked;
  counter& cell = failed ? (late ? mine.bad_late : mine.bad) : (late ? mine.good_late : mine.good);
  if (!count(cell, held.generation)) return stale(mine);
  bump(mine.latency[bucket]);
  if (!failed) {
    note_success(mine);
    return newly_slow;
  }
  if (how.connect) count(mine.connects, held.generation);
  note_failure(held.generation);
  return true;
}

bool gate::settle_probe(const pass& held, const outcome& how) noexcept {
  place& mine = places_[static_cast<unsigned>(held.place)];
  mine.slow = how.slow || held.marked;
  switch (how.verdict) {
    case verdict::success:
      mine.fate = fate::success;
      break;
    case verdict::failure:
      mine.fate = fate::failure;
      break;
    case verdict::neutral:
      mine.fate = fate::neutral;
      break;
  }
  settled_.fetch_or(bit(static_cast<unsigned>(held.place)), std::memory_order_release);
  return true;
}

bool gate::mark_slow(pass& held, unsigned stripe) noexcept {
  if (held.place == pass::uncounted || std::exchange(held.marked, true)) return false;
  if (held.place >= 0) return false;  // told with the probe's result
  auto& mine = stripes_[stripe];
  return count(mine.marked, held.generation) || stale(mine);
}

// Back to this gate, not to the authority: when tool and server are both half_open, a lease of one that waits is what
// lets a call get both at once.
void gate::give_back(const pass& held) noexcept {
  if (held.place >= 0) offered_.fetch_or(bit(static_cast<unsigned>(held.place)), std::memory_order_release);
}

// Failures are rare, or else soon refused, so their order may cost an exchange.
void gate::note_failure(std::uint64_t generation) noexcept {
  std::uint64_t value = failures_.load(std::memory_order_relaxed), next = 0;
  do {
    next = (value & ~count_mask) == stamp(generation) ? value + 1 : stamp(generation) + 1;
  } while (!failures_.compare_exchange_weak(value, next, std::memory_order_relaxed));
}

// The drainer.

batch gate::drain(std::uint64_t generation) {
  const std::uint64_t mark = stamp(generation);
  const auto since_last = [mark](const counter& cell, std::uint64_t& remembered) -> std::uint64_t {
    const std::uint64_t value = cell.load(std::memory_order_relaxed);
    if ((value & ~count_mask) != mark) return 0;
    const std::uint64_t base = (remembered & ~count_mask) == mark ? remembered : mark;
    remembered = value;
    return value - base;
  };

  const std::uint64_t failures = failures_.load(std::memory_order_relaxed);
  const bool ordered = (failures & ~count_mask) == mark;
  std::uint64_t before_success = mark;
  batch sum;
  for (unsigned i = 0; i < stripe_count_; ++i) {
    stripe& from = stripes_[i];
    tally& last = tallies_[i];
    const std::uint64_t seen = from.seen.load(std::memory_order_relaxed);
    if ((seen & ~count_mask) == mark) before_success = std::max(before_success, seen);
    sum.counts.connects += since_last(from.connects, last.connects);
    const std::uint64_t good = since_last(from.good, last.good), bad = since_last(from.bad, last.bad);
    const std::uint64_t good_late = since_last(from.good_late, last.good_late);
    const std::uint64_t bad_late = since_last(from.bad_late, last.bad_late);
    const std::uint64_t marked = since_last(from.marked, last.marked);
    sum.counts.calls += good + bad + good_late + bad_late;
    sum.counts.failures += bad + bad_late;
    sum.counts.timed += good + bad + marked;
    sum.counts.slow += marked;
  }
  if (ordered && failures > before_success) sum.trailing = std::min(sum.counts.failures, failures - before_success);
  return sum;
}

report gate::collect(time_point now) {
  const std::uint64_t word = word_.load(std::memory_order_relaxed);
  report said;
  said.generation = word >> flag_bits;
  said.batch = drain(said.generation);
  for (unsigned i = 0; i < stripe_count_; ++i) {
    const std::uint64_t offered = stripes_[i].offered.load(std::memory_order_relaxed);
    said.offered += offered - std::exchange(tallies_[i].offered, offered);
  }
  collect_probes(now, said.generation, said);

  const bool asks = (word & state_mask) != static_cast<std::uint64_t>(state::closed) && (word & forced_flag) == 0;
  if (asks) {
    const std::uint64_t demand = std::max<std::uint64_t>(said.offered, waiting_.load(std::memory_order_relaxed));
    const auto ready = static_cast<std::uint64_t>(std::popcount(offered_.load(std::memory_order_relaxed)));
    const auto vacant = static_cast<std::uint64_t>(places - std::popcount(held_));
    said.want = static_cast<std::uint32_t>(std::min(demand - std::min(demand, ready), vacant));
  }
  return said;
}

report gate::conclude(time_point now) {
  report said = collect(now);
  take_back(offered_.load(std::memory_order_acquire) & held_, &said);
  said.want = 0;
  return said;
}

void gate::collect_probes(time_point now, std::uint64_t generation, report& into) {
  // Leases are good for a length of time; when the clock went back that length is no longer known.
  const bool set_back = now + std::chrono::seconds(1) < last_collect_;
  last_collect_ = now;

  const std::uint64_t ended = settled_.exchange(0, std::memory_order_acquire);
  for_each_bit(ended, [&](unsigned i) {
    const place& from = places_[i];
    if (from.generation == generation) into.probes.push_back({from.token, from.fate, from.slow});
  });
  held_ &= ~ended;
  told_ &= ~ended;

  const std::uint64_t ready = offered_.load(std::memory_order_acquire);
  std::uint64_t overdue = 0;
  for_each_bit(ready & held_, [&](unsigned i) {
    if (set_back || places_[i].use_by <= now || places_[i].generation != generation) overdue |= bit(i);
  });
  take_back(overdue, &into);

  const std::uint64_t in_use = held_ & ~ready & ~told_;
  for_each_bit(in_use, [&](unsigned i) {
    if (places_[i].generation == generation) into.probes.push_back({places_[i].token, fate::used, false});
  });
  told_ |= in_use;
}

// A place whose bit we clear was not taken by a call and never will be.
void gate::take_back(std::uint64_t which, report* into) {
  if (which == 0) return;
  const std::uint64_t unused = offered_.fetch_and(~which, std::memory_order_acq_rel) & which;
  for_each_bit(unused, [&](unsigned i) {
    if (into != nullptr) into->probes.push_back({places_[i].token, fate::unused, false});
  });
  held_ &= ~unused;
}

void gate::apply(const reply& said, time_point sent) {
  const breaker::view& seen = said.view;
  const std::uint64_t present = word_.load(std::memory_order_relaxed) >> flag_bits;
  if (seen.generation < present) return;
  if (seen.generation > present) take_back(offered_.load(std::memory_order_relaxed), nullptr);

  since_.store(ticks(sent - seen.since), std::memory_order_relaxed);
  until_.store(ticks(later(sent, seen.retry_after)), std::memory_order_relaxed);
  next_lease_.store(ticks(later(sent, seen.next_lease)), std::memory_order_relaxed);
  const std::uint64_t flags = static_cast<std::uint64_t>(seen.state) |
                              static_cast<std::uint64_t>(seen.mode) << mode_shift | (seen.forced ? forced_flag : 0) |
                              static_cast<std::uint64_t>(seen.ramp) << ramp_shift;
  word_.store(seen.generation << flag_bits | flags, std::memory_order_release);
  for (const lease& granted : said.leases) offer(granted, seen.generation, sent);
}

void gate::offer(const lease& granted, std::uint64_t generation, time_point sent) {
  const auto which = static_cast<unsigned>(std::countr_one(held_));
  if (which >= places) return;  // not asked for; it runs out by itself
  places_[which] = {granted.token, generation, later(sent, granted.use_within), later(sent, granted.result_within)};
  held_ |= bit(which);
  offered_.fetch_or(bit(which), std::memory_order_release);
}

latency_counts gate::latency() const {
  latency_counts sum{};
  for (unsigned i = 0; i < stripe_count_; ++i)
    for (unsigned bucket = 0; bucket < latency_buckets; ++bucket)
      sum[bucket] += stripes_[i].latency[bucket].load(std::memory_order_relaxed);
  return sum;
}

std::uint64_t gate::refused() const {
  std::uint64_t sum = 0;
  for (unsigned i = 0; i < stripe_count_; ++i) sum += stripes_[i].refused.load(std::memory_order_relaxed);
  return sum;
}

std::uint64_t gate::stale() const {
  std::uint64_t sum = 0;
  for (unsigned i = 0; i < stripe_count_; ++i) sum += stripes_[i].stale.load(std::memory_order_relaxed);
  return sum;
}

}  // namespace switchgear::breaker
