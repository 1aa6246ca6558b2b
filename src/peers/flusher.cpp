#include "peers/flusher.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace switchgear::peers {

namespace asio = boost::asio;

namespace {

// Who counted what is asked for once a second; after this, the board has not told it for other reasons.
constexpr duration contributions_hold = std::chrono::seconds(5);

}  // namespace

/// A call that waits for a probe's place, on its own worker.
struct flusher::waiter {
  explicit waiter(asio::io_context& io) : timer(io) {}
  asio::steady_timer timer;
};

/// A gate and what this replica knows of its scope.
struct flusher::member {
  member(std::string name, breaker::scope scope, unsigned stripes, const breaker::settings& values)
      : gate(std::move(name), scope, stripes, values), settings(values) {}

  breaker::gate gate;
  breaker::settings settings;
  std::uint64_t revision = 1;
  std::uint64_t told_revision = 0;  // the board has these settings
  bool changed = false;             // somebody else has moved it
  std::optional<port::board_entry::command> ordered;
  std::uint64_t orders = 0;   // given
  std::uint64_t carried = 0;  // of them: on their way to the board
  std::uint64_t obeyed = 0;   // of them: in force
  std::string note;

  breaker::view view;
  breaker::figures figures;
  time_point heard{};  // when view and figures were true
  bool other_settings = false;
  std::vector<breaker::contribution> contributions;
  time_point contributions_at{};
  recent_latency latency;
};

flusher::flusher(async::worker& control, port::board& board, port::recorder& recorder, unsigned stripes)
    : control_(control),
      board_(board),
      recorder_(recorder),
      stripes_(stripes),
      timer_(control.io),
      passed_(control.io) {
  interval_.tick = board.interval();
}

flusher::~flusher() = default;

void flusher::start() {
  board_.on_change([this](std::string_view name) { changed(name); });
  asio::co_spawn(control_.io, run(), [](std::exception_ptr failed) {
    if (failed) std::rethrow_exception(failed);
  });
}

void flusher::stop() {
  asio::post(control_.io, [this] {
    stopping_ = true;
    timer_.cancel();
    passed_.cancel();
  });
}

asio::awaitable<void> flusher::finish() {
  finishing_ = stopping_ = true;
  timer_.cancel();
  const time_point limit = async::worker::now() + patience;
  while (!ended_ && async::worker::now() < limit) {
    error_code ignored;
    passed_.expires_at(limit);
    co_await passed_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
}

breaker::gate& flusher::tool(std::string_view exported_name, const breaker::settings& values) {
  return find_or_make(std::string(exported_name), breaker::scope::tool, values);
}

breaker::gate& flusher::server(std::string_view alias, const breaker::settings& values) {
  return find_or_make("server:" + std::string(alias), breaker::scope::server, values);
}

breaker::gate& flusher::find_or_make(std::string name, breaker::scope scope, const breaker::settings& values) {
  const std::lock_guard lock(guard_);
  std::unique_ptr<member>& found = members_[name];
  if (!found) {
    found = std::make_unique<member>(std::move(name), scope, stripes_, values);
  } else if (!(found->settings == values)) {
    found->settings = values;
    ++found->revision;
  } else {
    return found->gate;
  }
  kick(found->gate);
  return found->gate;
}

void flusher::kick(breaker::gate& gate) noexcept {
  if (gate.raise() && !wake_posted_.exchange(true)) {
    asio::post(control_.io, [this] { wake(); });
  }
}

void flusher::changed(std::string_view name) {
  const std::lock_guard lock(guard_);
  const auto found = members_.find(name);
  if (found == members_.end()) return;
  found->second->changed = true;
  kick(found->second->gate);
}

void flusher::wake() {
  wake_posted_ = false;
  woken_ = true;
  timer_.cancel();
}

asio::awaitable<void> flusher::run() {
  time_point next_tick = async::worker::now();
  time_point last_pass{};
  while (!stopping_) {
    const time_point now = async::worker::now();
    const time_point soonest = last_pass + interval_.kick;
    const time_point wanted = woken_ ? soonest : std::max(hurry_, soonest);
    const time_point due = std::min(next_tick, wanted);
    if (now < due) {
      error_code ignored;
      timer_.expires_at(due);
      co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
      continue;
    }
    woken_ = false;
    hurry_ = time_point::max();
    last_pass = now;
    const bool ticked = now >= next_tick;
    co_await pass(ticked ? pass_kind::all : pass_kind::raised);
    if (ticked) next_tick = now + interval_.tick;
    passed_.cancel();
  }
  if (finishing_) co_await pass(pass_kind::last);
  ended_ = true;
  passed_.cancel();
}

asio::awaitable<void> flusher::pass(pass_kind which) {
  const time_point sent = async::worker::now();
  std::vector<port::board_entry> entries;
  std::vector<member*> members;
  {
    const std::lock_guard lock(guard_);
    for (auto& [name, each] : members_) {
      if (!each->gate.take_raised() && which == pass_kind::raised) continue;
      port::board_entry entry;
      if (!hear(*each, sent, entry, which)) continue;
      entries.push_back(std::move(entry));
      members.push_back(each.get());
    }
  }
  if (entries.empty()) co_return;
  const auto dirty = std::ranges::count_if(entries, [](const port::board_entry& each) { return !each.said.empty(); });
  const error_code failed = co_await board_.exchange(entries);
  // In this process no number of scopes is many.
  const auto work = board_.shared() ? static_cast<std::size_t>(dirty) : 0;
  interval_ = flush_interval::after(work, async::worker::now() - sent, board_.interval());
  {
    const std::lock_guard lock(guard_);
    figures_ = board_.figures();
  }
  if (failed) co_return;
  for (std::size_t i = 0; i < entries.size(); ++i) tell(*members[i], entries[i], sent);
}

// False: there is nothing to say and nothing to ask.
bool flusher::hear(member& from, time_point now, port::board_entry& into, pass_kind which) {
  const bool last = which == pass_kind::last;
  into.said = last ? from.gate.conclude(now) : from.gate.collect(now);
  if (last && into.said.empty()) return false;
  // What this replica alone moves stays as it is while nothing is counted; what others move, does not.
  const bool may_move = board_.shared() || !(from.figures.counts == breaker::counts{});
  const bool figures_age = (may_move && now - from.heard >= refresh) || std::exchange(from.changed, false);
  const bool unknown = from.told_revision != from.revision;
  if (into.said.empty() && !from.view.watch && !figures_age && !unknown && !from.ordered) return false;
  if (unknown) from.gate.configure(from.settings);
  from.told_revision = from.revision;
  into.name = from.gate.name();
  into.scope = from.gate.scope();
  into.settings = &from.settings;
  into.revision = from.revision;
  into.ordered = std::exchange(from.ordered, std::nullopt);
  if (into.ordered) from.carried = from.orders;
  return true;
}

void flusher::tell(member& to, const port::board_entry& entry, time_point sent) {
  std::shared_ptr<waiter> waiting;
  {
    const std::lock_guard lock(guard_);
    to.gate.apply(entry.answer, sent);
    to.view = entry.answer.view;
    to.figures = entry.answer.figures;
    to.heard = sent;
    to.other_settings = entry.answer.other_settings;
    if (!entry.answer.contributions.empty()) {
      to.contributions = entry.answer.contributions;
      to.contributions_at = sent;
    }
    to.latency.observe(to.gate.latency(), to.settings.window, sent);
    if (entry.ordered) to.obeyed = to.carried;
    const auto found = waiters_.find(&to.gate);
    if (found != waiters_.end()) {
      if (to.gate.probe_ready()) {
        waiting = found->second;
      } else if (to.view.next_lease < refresh) {
        to.gate.raise();
        hurry_ = std::min(hurry_, sent + to.view.next_lease);
      }
    }
  }
  if (waiting) asio::post(waiting->timer.get_executor(), [waiting] { waiting->timer.cancel(); });
  for (const breaker::transition& change : entry.answer.transitions) record(to, change);
}

void flusher::record(const member& of, const breaker::transition& change) {
  port::transition_record record;
  record.scope = of.gate.name();
  record.from = breaker::name(change.from);
  record.to = change.would_be ? "would_open" : breaker::name(change.to);
  record.reason = breaker::name(change.cause);
  record.generation = change.generation;
  std::string note;
  if (change.cause >= breaker::cause::operator_open && change.cause <= breaker::cause::operator_auto) {
    const std::lock_guard lock(guard_);
    note = of.note;
  }
  record.note = note;
  recorder_.transition(record);
}

asio::awaitable<void> flusher::probe(async::worker& on, breaker::gate& gate, time_point until) {
  if (!gate.begin_wait()) co_return;
  // Leaves the queue however the wait ends, also when the coroutine is destroyed in it.
  struct turn {
    flusher& owner;
    breaker::gate& gate;
    ~turn() {
      {
        const std::lock_guard lock(owner.guard_);
        owner.waiters_.erase(&gate);
      }
      gate.end_wait();
    }
  };
  const auto self = std::make_shared<waiter>(on.io);
  turn ours{*this, gate};
  {
    const std::lock_guard lock(guard_);
    waiters_[&gate] = self;
  }
  self->timer.expires_at(std::min(until, async::worker::now() + gate.probe_wait()));
  kick(gate);
  error_code ignored;
  co_await self->timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

asio::awaitable<bool> flusher::admin(port::command what) {
  member* its = nullptr;
  std::uint64_t mine = 0;
  {
    const std::lock_guard lock(guard_);
    const auto found = members_.find(what.name);
    if (found == members_.end()) co_return false;
    its = found->second.get();
    its->ordered = port::board_entry::command{what.order, what.hold};
    its->note = what.actor + ": " + what.reason;
    mine = ++its->orders;
  }
  kick(its->gate);
  const time_point limit = async::worker::now() + patience;
  while (its->obeyed < mine && !stopping_ && async::worker::now() < limit) {
    error_code ignored;
    passed_.expires_at(limit);
    co_await passed_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  co_return its->obeyed >= mine;
}

std::vector<port::circuit> flusher::snapshot() const {
  const time_point now = async::worker::now();
  const std::lock_guard lock(guard_);
  std::vector<port::circuit> all;
  all.reserve(members_.size());
  for (const auto& [name, each] : members_) all.push_back(describe(*each, now));
  return all;
}

port::board_figures flusher::board() const {
  const std::lock_guard lock(guard_);
  return figures_;
}

port::circuit flusher::describe(const member& of, time_point now) {
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  port::circuit seen;
  seen.name = of.gate.name();
  seen.scope = of.gate.scope();
  seen.state = of.view.state;
  seen.mode = of.heard == time_point{} ? of.settings.mode : of.view.mode;
  seen.forced = of.view.forced;
  seen.ramp_percent = of.view.ramp == 0 ? 100 : of.view.ramp * 25u;
  seen.generation = of.view.generation;
  seen.since = of.heard - of.view.since;
  seen.retry_after = std::max(of.heard + of.view.retry_after - now, duration::zero());
  seen.figures = of.figures;
  seen.error_rate = share(of.figures.counts.failures, of.figures.counts.calls);
  seen.slow_rate = share(of.figures.counts.slow, of.figures.counts.timed);
  seen.p99 = of.latency.p99();
  seen.settings = of.settings;
  seen.refused = of.gate.refused();
  seen.stale = of.gate.stale() + of.figures.stale;
  seen.note = of.note;
  seen.other_settings = of.other_settings;
  if (now - of.contributions_at < contributions_hold) {
    seen.contributions = of.contributions;
    for (breaker::contribution& each : seen.contributions) each.heard += now - of.contributions_at;
  }
  return seen;
}

}  // namespace switchgear::peers
