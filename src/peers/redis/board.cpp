#include "peers/redis/board.hpp"

#include "async/worker.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <unistd.h>
#include <utility>

namespace switchgear::peers::redis {

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr duration first_retry = 200ms;
constexpr duration last_retry = 2s;

// Alone, a replica sees its part of the calls, and must leave the others their part of the probes.
breaker::settings alone_settings(breaker::settings values, std::uint32_t replicas) {
  values.minimum_calls = std::min(values.minimum_calls, std::max(board::least_calls, values.minimum_calls / replicas));
  values.probes_in_flight = std::max(1u, values.probes_in_flight / replicas);
  return values;
}

std::string instance_name(std::mt19937_64& random) {
  char host[65] = "";
  gethostname(host, sizeof host - 1);
  char number[24];
  std::snprintf(number, sizeof number, "%08llx", static_cast<unsigned long long>(random() & 0xffffffff));
  return std::string(host) + "-" + std::to_string(getpid()) + "-" + number;
}

// Something is wrong with the keys of one scope, not with Redis.
bool is_of_scope(const response& said) {
  return said.kind == response::kind::error &&
         (said.text.find("WRONGTYPE") != std::string::npos || said.text.find("SWITCHGEARNEWER") != std::string::npos);
}

error_code missed() {
  return make_error_code(boost::system::errc::timed_out);
}

}  // namespace

/// Something that was said and not acknowledged. It may have arrived, so it keeps its number.
struct board::repeat {
  std::uint64_t sequence = 0;
  breaker::report said;
  std::optional<port::board_entry::command> ordered;
  bool put = false;
};

struct board::scope {
  scope(const port::board_entry& entry, std::string_view prefix, time_point now)
      : name(entry.name),
        kind(entry.scope),
        at(prefix, entry.name),
        slot(slot_of(at.state)),
        settings(*entry.settings),
        local(entry.scope, *entry.settings, now) {}

  std::string name;
  breaker::scope kind;
  address at;
  unsigned slot;
  breaker::settings settings;       // what the entries point to lives no longer than their exchange
  std::uint64_t told_revision = 0;  // in force in Redis
  std::uint64_t revision = 0;
  std::uint64_t sequence = 0;
  std::uint64_t seen = 0;  // generation that Redis said last
  bool known = false;      // Redis has spoken of it
  breaker::view view;      // as it was told to the gate last, but for overlay()
  time_point view_at{};
  time_point alone_until{};  // the rules trip for this replica only
  std::deque<repeat> unheard;
  breaker::authority local;
  unsigned local_absence = 0;  // local decides since that absence of Redis
  std::uint64_t local_revision = 0;
  bool complained = false;

  breaker::view view_now(time_point now) const {
    breaker::view aged = view;
    const duration age = now - view_at;
    aged.since += age;
    if (!aged.forced) aged.retry_after = std::max(duration::zero(), aged.retry_after - age);
    return aged;
  }
};

board::board(asio::io_context& io, port::redis_settings settings, std::uint64_t seed, port::recorder& recorder)
    : recorder_(recorder),
      random_(seed),
      settings_(std::move(settings)),
      instance_(instance_name(random_)),
      store_(io, settings_, random_(), [this](std::string_view name) {
        if (told_ && scopes_.contains(name)) told_(name);
      }) {
  figures_.shared = true;
}

board::~board() = default;

board::scope& board::find_or_make(const port::board_entry& entry) {
  const auto found = scopes_.find(entry.name);
  if (found != scopes_.end()) return *found->second;
  auto made = std::make_unique<scope>(entry, settings_.prefix, async::worker::now());
  return *scopes_.emplace(entry.name, std::move(made)).first->second;
}

port::board_figures board::figures() const {
  port::board_figures now = figures_;
  now.shared = !alone_;
  now.replicas = alone_ ? 0 : replicas_;
  return now;
}

asio::awaitable<error_code> board::exchange(std::vector<port::board_entry>& entries) {
  for (port::board_entry& entry : entries) {
    scope& its = find_or_make(entry);
    its.settings = *entry.settings;
    its.revision = entry.revision;
    ++its.sequence;
  }
  if (!alone_ || async::worker::now() >= retry_at_) {
    if (co_await try_shared(entries)) co_return error_code{};
    if (!alone_ && ++misses_ < misses_allowed) {
      for (const port::board_entry& entry : entries) keep(find_or_make(entry), entry);
      co_return missed();
    }
    lost();
  }
  for (port::board_entry& entry : entries) serve_alone(find_or_make(entry), entry);
  co_return error_code{};
}

command board::question(scope& of, const port::board_entry& entry, std::uint64_t sequence, bool put) {
  redis::question asked{entry, of.at, instance_, sequence, put, {}, 0};
  const breaker::view known = of.view_now(async::worker::now());
  asked.known = {of.seen, known.state, known.retry_after};
  asked.random = std::uniform_real_distribution<double>()(random_);
  return words(asked);
}

void board::keep(scope& of, const port::board_entry& entry) {
  breaker::report again = entry.said;
  again.want = 0;
  of.local.note(entry.said.batch, async::worker::now());
  of.unheard.push_back({of.sequence, std::move(again), entry.ordered, of.told_revision != of.revision});
}

// What Redis may not have heard comes before what is new.
void board::ask_again(scope& of, std::vector<routed>& commands) {
  for (const repeat& each : of.unheard) {
    port::board_entry entry;
    entry.name = of.name;
    entry.scope = of.kind;
    entry.settings = &of.settings;
    entry.ordered = each.ordered;
    entry.said = each.said;
    commands.push_back({of.slot, question(of, entry, each.sequence, each.put)});
  }
}

// True: Redis answered, and every entry has an answer.
asio::awaitable<bool> board::try_shared(std::vector<port::board_entry>& entries) {
  const time_point sent = async::worker::now();
  std::vector<routed> commands;
  std::vector<std::size_t> repeats;  // before each entry's own
  if (store_.usable()) {
    for (port::board_entry& entry : entries) {
      scope& its = find_or_make(entry);
      ask_again(its, commands);
      repeats.push_back(its.unheard.size());
      const bool put = its.told_revision != its.revision;
      if (alone_) {
        // What was counted alone belongs to a time that the shared counts know nothing of.
        port::board_entry bare = entry;
        bare.said.batch = {};
        bare.said.probes.clear();
        commands.push_back({its.slot, question(its, bare, its.sequence, put)});
      } else {
        commands.push_back({its.slot, question(its, entry, its.sequence, put)});
      }
    }
  }
  std::vector<response> said;
  if (!commands.empty()) said = co_await store_.ask(std::move(commands));

  const auto answered = [](const response& each) { return each.kind == response::kind::text; };
  const bool any = std::ranges::any_of(said, [&](const response& each) { return answered(each) || is_of_scope(each); });
  if (!any) {
    ++figures_.missed;
    co_return false;
  }

  found();
  ++figures_.flushes;
  figures_.flush_time += async::worker::now() - sent;
  std::size_t next = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    scope& its = find_or_make(entries[i]);
    std::vector<breaker::transition> earlier;
    for (std::size_t r = 0; r < repeats[i]; ++r, ++next) {
      if (auto heard = read(answered(said[next]) ? said[next].text : std::string_view(), its.settings)) {
        std::ranges::copy(heard->reply.transitions, std::back_inserter(earlier));
        if (!entries[i].ordered) entries[i].ordered = its.unheard[r].ordered;
      }
    }
    its.unheard.clear();
    if (take(its, entries[i], said[next++])) {
      auto& told = entries[i].answer.transitions;
      told.insert(told.begin(), earlier.begin(), earlier.end());
    } else {
      serve_alone(its, entries[i]);
    }
  }
  co_return true;
}

// False: of this scope Redis has no use, though it answers others.
bool board::take(scope& of, port::board_entry& entry, const response& said) {
  std::optional<answer> heard;
  if (said.kind == response::kind::text) heard = read(said.text, of.settings);
  if (!heard) {
    if (!std::exchange(of.complained, true)) recorder_.board_changed(false, of.name + ": " + said.text);
    return false;
  }
  of.complained = false;
  of.told_revision = of.revision;
  breaker::reply& reply = heard->reply;
  const time_point now = async::worker::now();
  const bool moved = !of.known || reply.view.generation != of.view.generation;
  const bool told = !reply.transitions.empty() && reply.transitions.back().generation == reply.view.generation;
  // Another replica's exchange brought it about: here it is news all the same.
  if (of.known && moved && !told && reply.view.state != of.view.state) {
    reply.transitions.push_back(
        {of.view.state, reply.view.state, reply.view.generation, reply.figures.last_cause, false});
  }
  of.known = true;
  of.seen = reply.view.generation;
  of.view = reply.view;
  of.view_at = now;
  of.local_absence = 0;
  if (moved) of.local.adopt(of.view, now);
  of.local.note(entry.said.batch, now);
  if (heard->alone) of.alone_until = now + of.settings.cooldown;
  replicas_ = std::max(1u, heard->replicas);
  figures_.leases_granted += reply.leases.size();
  figures_.leases_expired += heard->expired;
  figures_.leases_returned += static_cast<std::uint64_t>(
      std::ranges::count(entry.said.probes, breaker::fate::unused, &breaker::probe_report::fate));
  entry.answer = std::move(reply);
  overlay(of, entry.answer);
  return true;
}

// No other replica sees what this one sees: its own road to the tool may be broken. It stays away from the tool for a
// cooldown, under the generation of all.
void board::overlay(scope& of, breaker::reply& answer) {
  const time_point now = async::worker::now();
  if (now >= of.alone_until) return;
  if (answer.view.state != breaker::state::closed) {
    of.alone_until = {};
    return;
  }
  answer.view.state = breaker::state::open;
  answer.view.ramp = 0;
  answer.view.watch = true;
  answer.view.retry_after = of.alone_until - now;
  answer.view.next_lease = duration::max();
}

void board::serve_alone(scope& of, port::board_entry& entry) {
  const time_point now = async::worker::now();
  const unsigned absence = absence_ + 1;  // 0 = Redis decides
  if (of.local_absence != absence || of.local_revision != of.revision) {
    of.local.configure(alone_settings(of.settings, replicas_), now);
    of.local_revision = of.revision;
  }
  if (of.local_absence != absence && of.known) of.local.adopt(of.view_now(now), now);
  of.local_absence = absence;
  if (entry.ordered) of.local.obey(entry.ordered->order, entry.ordered->hold, now);
  entry.answer = of.local.exchange(entry.said, now, std::uniform_real_distribution<double>()(random_));
  of.view = entry.answer.view;
  of.view_at = now;
  overlay(of, entry.answer);
}

void board::lost() {
  const time_point now = async::worker::now();
  if (!alone_) {
    alone_ = true;
    ++absence_;
    ++figures_.losses;
    lost_at_ = now;
    retry_after_ = first_retry;
    for (auto& [name, each] : scopes_) each->unheard.clear();
    recorder_.board_changed(false, store_.trouble());
  } else {
    retry_after_ = std::min(retry_after_ * 2, last_retry);
  }
  const double spread = std::uniform_real_distribution<double>(0.5, 1)(random_);
  retry_at_ = now + duration(static_cast<duration::rep>(static_cast<double>(retry_after_.count()) * spread));
}

void board::found() {
  misses_ = 0;
  const bool first = figures_.flushes == 0;
  if (std::exchange(alone_, false)) {
    const auto away = std::chrono::duration_cast<std::chrono::milliseconds>(async::worker::now() - lost_at_);
    recorder_.board_changed(true, "after " + std::to_string(away.count()) + " ms alone");
  } else if (first) {
    recorder_.board_changed(true, "connected");
  }
}

}  // namespace switchgear::peers::redis
