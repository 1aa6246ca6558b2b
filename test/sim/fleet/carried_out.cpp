// One question as Redis carries it out, in the order of the library, and what that must have done.
#include "sim/fleet/watcher.hpp"
#include "unit/peers/redis_words.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace switchgear::sim::fleet {

using breaker::cause;
using breaker::fate;
using breaker::mode;
using breaker::state;
using namespace std::chrono_literals;

namespace {

constexpr duration one_microsecond = 1us;

bool by_word(cause why) {
  return why == cause::operator_open || why == cause::operator_close || why == cause::operator_observe ||
         why == cause::operator_auto || why == cause::hold_over;
}

}  // namespace

asked::asked(const peers::redis::command& words) : instance(words.at(7)) {
  const std::vector<double> numbers = peers::redis::unpacked(words.at(9));
  const auto whole = [&](std::size_t at) { return static_cast<std::uint64_t>(numbers.at(at)); };
  sequence = whole(0);
  generation = whole(3);
  known = {whole(4), static_cast<state>(whole(5)), micros(whole(6))};
  counts = {whole(7), whole(8), whole(9), whole(10), whole(11)};
  offered = whole(13);
  std::istringstream ended(words.at(10));
  breaker::probe_report probe;
  for (unsigned how = 0, slow = 0; ended >> probe.token >> how >> slow;) {
    probe.fate = static_cast<fate>(how);
    probe.slow = slow != 0;
    probes.push_back(probe);
  }
}

struct watcher::turn {
  breaker::scope which;
  const asked& said;
  const breaker::reply& reply;
  std::uint32_t expired;
  truth& it;
  const breaker::settings& settings;
  time_point truly;
  bool repeated;
  std::size_t next = 0;  // of the reply's transitions
  bool raised = false;   // the shared state goes on, above a generation that somebody reached alone

  time_point now() const { return it.clock->now(); }
  /// The report is of the present period, and new.
  bool counts() const { return !repeated && said.generation == it.generation; }
};

bool watcher::expect(bool holds, unsigned invariant, const turn& at, const std::string& text) {
  if (!holds) {
    fail(invariant, text + " (the " + std::string(name(at.which)) + "'s breaker, asked by " + at.said.instance +
                        " with number " + std::to_string(at.said.sequence) + ")");
  }
  return holds;
}

void watcher::carried_out(breaker::scope which, const peers::redis::command& words, const peers::redis::receipt& said,
                          time_point reading, time_point truly) {
  if (broken_) return;
  const asked question(words);
  truth& it = truths_[index_of(which)];
  if (!it.clock) {
    it.clock.emplace(reading);
    it.since = reading;
  }
  it.clock->advance(reading);
  const auto heard = peers::redis::read(said.text, settings_[index_of(which)]);
  if (said.kind != peers::redis::receipt::kind::text || !heard) {
    // The lengths in an answer are never negative, unless time went back.
    return fail(13, "no answer: " + said.text);
  }
  truth::sender& sender = it.senders[question.instance];
  const std::uint64_t last = sender.sequence;
  sender = {std::max(last, question.sequence), it.clock->now()};
  turn at{
      which, question, heard->reply, heard->expired, it, settings_[index_of(which)], truly, question.sequence <= last};
  // In the order of the library.
  join(at);
  while (take(at, {cause::operator_open, cause::operator_close, cause::operator_observe, cause::operator_auto,
                   cause::hold_over})) {
  }
  expire(at);
  take(at, {cause::probe_lost});
  settle(at);
  count(at);
  take(at, {cause::cooldown_over});
  grant(at);
  compare(at);
  look_through(at);
}

// The next transition, if it is for one of these reasons. What only would have happened is none.
bool watcher::take(turn& at, std::initializer_list<cause> causes) {
  const auto& all = at.reply.transitions;
  while (at.next < all.size() && all[at.next].would_be) ++at.next;
  if (at.next == all.size() || std::ranges::find(causes, all[at.next].cause) == causes.end()) return false;
  enter(at, all[at.next++]);
  return true;
}

void watcher::enter(turn& at, const breaker::transition& change) {
  truth& it = at.it;
  const breaker::settings& s = at.settings;
  const bool word = by_word(change.cause);
  ++transitions_;
  expect(change.from == it.state, 4, at, "a transition begins in a state that it was not in");
  if (change.cause != cause::joined) {
    expect(change.generation == it.generation + 1, 4, at, "a transition raises the generation by one");
  }
  if (change.from == state::open && !word && change.cause != cause::joined) {
    expect(change.to == state::half_open && change.cause == cause::cooldown_over, 5, at,
           "only time leads out of open, and to half open only");
    expect(at.now() + one_microsecond >= it.until, 5, at, "half open before the stay is over");
    expect(it.leapt || at.truly - it.opened_truly + one_microsecond >= it.stay, 13, at,
           "a stay in open was cut short by setting the clock back");
  }
  if (change.cause == cause::probes_passed) {
    expect(change.from == state::half_open && it.done >= s.probes_needed && it.failed <= s.probe_failures_allowed &&
               it.slow <= s.probe_failures_allowed,
           3, at, "closed without enough good probes");
  }
  if (change.to == state::closed && change.cause != cause::probes_passed && change.cause != cause::joined) {
    expect(word, 3, at, "closed by nobody's word");
  }
  if (change.cause == cause::probes_failed || change.cause == cause::probe_lost) {
    expect(it.failed > s.probe_failures_allowed || it.slow > s.probe_failures_allowed, 2, at,
           "open again without enough bad probes");
  }
  check_quorum(at, change);
  it.generation = change.generation;
  it.state = change.to;
  it.since = at.now();
  it.exact = true;
  if (!at.raised) {
    it.opened_truly = at.truly;
    it.leapt = false;
  }
  if (change.to == state::open && !word && !at.raised) {
    const auto least = duration(static_cast<duration::rep>(static_cast<double>(s.cooldown.count()) * (1 - s.jitter)));
    it.stay = change.cause == cause::joined ? at.said.known.remaining : least;
    it.until = at.now() + it.stay;
  }
  entered_[index_of(at.which)].try_emplace(it.generation, at.truly);
  it.counted = 0;
  it.leases.clear();
  it.done = it.failed = it.slow = it.neutral = 0;
  history_[index_of(at.which)][it.generation].insert(it.state);
}

// I14: what Redis has lost, a gateway that saw it brings back. One that was alone has only raised its own generation.
void watcher::join(turn& at) {
  const auto& all = at.reply.transitions;
  const truth& it = at.it;
  const auto severity = [](state of) { return of == state::open ? 2 : of == state::half_open ? 1 : 0; };
  const peers::redis::standing& known = at.said.known;
  const bool behind = known.generation > it.generation;
  const bool split = known.generation == it.generation && at.said.generation == it.generation &&
                     severity(known.state) > severity(it.state);
  const bool alone = at.said.generation > it.generation ||
                     (at.said.generation == it.generation && at.said.generation > known.generation);
  const bool joined = !all.empty() && all.front().cause == cause::joined;
  if (!expect(joined == (behind || split || alone), 14, at,
              joined ? "states were joined that were one" : "what this gateway saw was not taken over") ||
      !joined)
    return;
  const breaker::transition& change = all.front();
  if (behind || split) {
    expect(change.to == known.state && change.generation == std::max(known.generation, at.said.generation), 14, at,
           "after a failover another state than the newest holds");
  } else {
    expect(change.to == it.state && change.generation == at.said.generation + 1, 14, at,
           "a gateway that was alone changed the shared state");
  }
  at.raised = !behind && !split;
  take(at, {cause::joined});
  at.raised = false;
}

void watcher::expire(turn& at) {
  if (at.it.state != state::half_open) return;
  std::uint32_t overdue = 0;
  std::erase_if(at.it.leases, [&](const auto& each) {
    const truth::lease& lease = each.second;
    if (lease.expires > at.now()) return false;
    ++overdue;
    at.it.done += lease.used;
    at.it.failed += lease.used;
    return true;
  });
  expect(at.expired == overdue, 9, at,
         std::to_string(at.expired) + " leases were taken back, due were " + std::to_string(overdue));
}

void watcher::settle(turn& at) {
  truth& it = at.it;
  if (at.counts() && it.state == state::half_open) {
    for (const breaker::probe_report& probe : at.said.probes) {
      const auto found = it.leases.find(probe.token);
      if (found == it.leases.end() || found->second.holder != at.said.instance) continue;
      if (probe.fate == fate::used) {
        found->second.used = true;
        continue;
      }
      it.leases.erase(found);
      if (probe.fate == fate::unused) continue;
      if (probe.fate == fate::neutral && !probe.slow && it.neutral < breaker::probes::neutral_allowed) {
        ++it.neutral;
        continue;
      }
      ++it.done;
      it.failed += probe.fate == fate::failure;
      it.slow += probe.slow;
    }
  }
  take(at, {cause::probes_failed, cause::probes_passed});
}

void watcher::count(turn& at) {
  truth& it = at.it;
  const bool accepted = at.counts() && it.state == state::closed && at.reply.view.mode != mode::disabled;
  if (accepted && !(at.said.counts == breaker::counts{})) {
    it.counted += at.said.counts.calls;
    truth::row& row = it.rows[at.said.instance];
    if (row.generation != it.generation || at.now() - row.begun >= at.settings.window) {
      row = {it.generation, at.now()};
    }
    row.calls += at.said.counts.calls;
    row.failures += at.said.counts.failures;
    row.timed += at.said.counts.timed;
    row.slow += at.said.counts.slow;
  }
  const auto& all = at.reply.transitions;
  const std::size_t before = at.next;
  if (take(at, {cause::error_rate, cause::outage, cause::p99, cause::unreachable})) {
    expect(accepted, at.repeated ? 8 : 2, at,
           "a report of generation " + std::to_string(at.said.generation) + " opened generation " +
               std::to_string(all[before].generation - 1));
  }
  // What comes to a closed breaker is no measure of how many probes another period may have.
  if (!at.repeated && it.state != state::closed) {
    it.offered.emplace_back(at.now(), at.said.offered + at.said.counts.calls);
  }
}

// I15: with three at work, one alone cannot open the breaker for all. At work is who was heard within ten seconds, and
// told of calls within two windows.
void watcher::check_quorum(turn& at, const breaker::transition& change) {
  if (change.cause != cause::error_rate && change.cause != cause::outage && change.cause != cause::p99 &&
      change.cause != cause::unreachable)
    return;
  unsigned at_work = 0, witnesses = 0;
  for (const auto& [instance, row] : at.it.rows) {
    const auto sender = at.it.senders.find(instance);
    if (row.generation != at.it.generation || row.calls + row.timed == 0 || sender == at.it.senders.end() ||
        at.now() - sender->second.heard > 10s || at.now() - row.begun >= 2 * at.settings.window)
      continue;
    ++at_work;
    witnesses += row.failures > 0 || row.slow > 0;
  }
  expect(at_work < 3 || witnesses >= 2, 15, at, "one of three gateways opened the breaker alone");
}

void watcher::grant(turn& at) {
  truth& it = at.it;
  const breaker::settings& s = at.settings;
  const auto& leases = at.reply.leases;
  if (leases.empty()) return;
  expect(!at.reply.view.forced, 17, at, "a lease was given while the operator keeps it open");
  expect(it.state == state::half_open, 5, at, "a lease was given while it is not half open");
  for (const breaker::lease& each : leases) {
    const bool fresh =
        it.leases
            .emplace(each.token,
                     truth::lease{at.said.instance, at.now() + each.result_within + breaker::probes::grace, false})
            .second;
    expect(fresh, 9, at, "a token was given twice");
    it.issued.push_back(at.now());
  }
  while (it.issued.front() <= at.now() - 1s) it.issued.pop_front();
  // Calls are told by tenths of a second.
  while (!it.offered.empty() && it.offered.front().first <= at.now() - 1100ms) it.offered.pop_front();
  std::uint64_t offered = 0;
  for (const auto& each : it.offered) offered += each.second;
  const double share = std::ceil(s.probe_share * static_cast<double>(offered) - 1e-9);
  expect(it.issued.size() <= std::max(1.0, share), 1, at,
         std::to_string(it.issued.size()) + " leases in a second with " + std::to_string(offered) + " calls");
  expect(it.leases.size() <= s.probes_in_flight, 1, at, "more leases are out than probes may be under way");
}

// Who was silent for a minute of Redis' clock is forgotten, and with him the number of his last question. No gateway
// repeats one after a minute; but a clock that leaps ahead just then makes one such question count twice.
void watcher::look_through(turn& at) {
  truth& it = at.it;
  if (it.looked_through && *it.looked_through <= at.now() && at.now() - *it.looked_through < 1s) return;
  it.looked_through = at.now();
  std::erase_if(it.senders, [&](const auto& each) { return at.now() - each.second.heard > 60s; });
}

// Everything that the answer says against what must be true.
void watcher::compare(turn& at) {
  truth& it = at.it;
  const breaker::reply& said = at.reply;
  const breaker::figures& seen = said.figures;
  const unsigned why = at.repeated ? 8 : at.said.generation != it.generation ? 2 : 9;
  expect(at.next == said.transitions.size() ||
             std::ranges::all_of(said.transitions.begin() + static_cast<std::ptrdiff_t>(at.next),
                                 said.transitions.end(), &breaker::transition::would_be),
         4, at, "a transition that nothing explains");
  expect(said.view.generation == it.generation && said.view.state == it.state, 4, at,
         "the state changed without a transition");
  expect(seen.probes_done == it.done && seen.probes_failed == it.failed, why, at,
         std::to_string(seen.probes_failed) + " of " + std::to_string(seen.probes_done) + " probes failed, it were " +
             std::to_string(it.failed) + " of " + std::to_string(it.done));
  expect(it.done <= at.settings.probes_needed, 1, at, "more results than are needed");
  const std::size_t out = it.state == state::half_open ? it.leases.size() : 0;
  expect(seen.probes_in_flight == out, 9, at,
         std::to_string(seen.probes_in_flight) + " leases are out, it were " + std::to_string(out));
  expect(seen.counts.calls <= it.counted, why == 9 ? 8 : why, at,
         std::to_string(seen.counts.calls) + " calls are counted, there were " + std::to_string(it.counted));
  if (it.exact && at.now() - it.since < at.settings.window - 2s) {
    expect(seen.counts.calls == it.counted, 8, at,
           std::to_string(seen.counts.calls) + " calls are counted, there were " + std::to_string(it.counted));
  }
  if (it.state == state::open && !said.view.forced) {
    it.until = std::max(it.until, at.now() + said.view.retry_after);
    if (it.since == at.now()) it.stay = said.view.retry_after;
  }
  history_[index_of(at.which)][it.generation].insert(it.state);
}

}  // namespace switchgear::sim::fleet
