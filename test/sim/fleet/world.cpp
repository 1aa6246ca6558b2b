#include "sim/fleet/world.hpp"

#include <algorithm>
#include <utility>

namespace switchgear::sim::fleet {

using namespace std::chrono_literals;
using breaker::scope;
using breaker::state;
using breaker::verdict;

namespace {

constexpr micros timeout = 50ms;  // of an exchange, as the configuration has it
constexpr scope both[] = {scope::tool, scope::server};
constexpr unsigned checked_windows = 16;  // one exchange of so many

const peers::redis::address& address_of(scope which) {
  static const peers::redis::address tool("cb1", tool_name), server("cb1", server_name);
  return which == scope::tool ? tool : server;
}

}  // namespace

tally& tally::operator+=(const tally& more) {
  events += more.events;
  calls += more.calls;
  admitted += more.admitted;
  exchanges += more.exchanges;
  transitions += more.transitions;
  lost += more.lost;
  repeated += more.repeated;
  late += more.late;
  crashes += more.crashes;
  failovers += more.failovers;
  forgotten += more.forgotten;
  steps += more.steps;
  alone += more.alone;
  return *this;
}

struct world::running {
  unsigned gateway;
  call how;
  breaker::permit permit;
  std::uint64_t generations[2];
  bool probes[2];
  bool counted[2];  // a disabled breaker counts nothing
};

struct world::parcel {
  unsigned gateway;
  unsigned life;
  unsigned cut;
  std::vector<peers::redis::command> questions;
  std::vector<scope> scopes;
  std::vector<peers::redis::receipt> answers;
  bool heard;  // the answers come back in time
};

world::world(remote& redis, const schedule& of) : redis_(redis), schedule_(of), watcher_(of) {
  redis_.clear();
  for (unsigned i = 0; i < of.gateways; ++i) gateways_.push_back(std::make_unique<gateway>(i, 0, of));
}

world::~world() {
  calls_.clear();  // permits go before their gates
}

std::optional<violation> world::run() {
  for (const event& each : schedule_.events) {
    advance(each.at);
    if (watcher_.broken()) break;
    ++count_.events;
    std::visit([this](const auto& what) { play(what); }, each.what);
  }
  if (!watcher_.broken()) recover();
  count_.transitions = watcher_.transitions();
  return watcher_.broken();
}

void world::advance(micros to) {
  while (!coming_.empty() && coming_.top().at <= to && !watcher_.broken()) {
    const happening next = coming_.top();
    coming_.pop();
    now_ = std::max(now_, next.at);
    next.what();
  }
  now_ = std::max(now_, to);
}

std::optional<micros> world::entered(scope which, std::uint64_t generation) const {
  const auto at = watcher_.entered(which, generation);
  if (!at) return std::nullopt;
  return std::chrono::floor<micros>(*at - start);
}

// Calls.

void world::play(const call& it) {
  ++count_.calls;
  gateway& by = at(it.gateway);
  member& tool = by.at(scope::tool);
  member& server = by.at(scope::server);
  breaker::admission asked = by.ask_leave(clock_of(it.gateway));
  const bool by_server = !asked && asked.refusal().gate == &server.gate;
  const bool tool_probe = asked && asked.permit().tool_probe();
  // A permit tells whether any of the two is a probe; of the server's it is the state that tells.
  const bool server_probe = asked && asked.permit().probe() && (!tool_probe || server.gate.state() == state::half_open);
  if (!by_server) watcher_.asked_leave(tool, static_cast<bool>(asked), tool_probe);
  if (asked || by_server) watcher_.asked_leave(server, static_cast<bool>(asked), server_probe);
  if (!asked) return;

  ++count_.admitted;
  breaker::permit& held = asked.permit();
  const auto counts = [](const member& its) { return its.view.mode != breaker::mode::disabled; };
  auto made = std::make_unique<running>(running{it.gateway,
                                                it,
                                                {},
                                                {held.tool_generation(), held.server_generation()},
                                                {tool_probe, server_probe},
                                                {counts(tool), counts(server)}});
  micros took = it.took;
  if (held.probe()) {  // its call ends with its lease
    took = std::min(took, std::chrono::floor<micros>(held.lease_deadline() - clock_of(it.gateway)));
  }
  const duration limit = held.slow_after();
  made->permit = std::move(held);
  const std::uint64_t id = next_++;
  for (const scope which : both) {
    if (made->probes[index_of(which)]) watcher_.probe_began(which, made->generations[index_of(which)]);
  }
  calls_.emplace(id, std::move(made));
  if (limit > duration::zero() && took > limit) {
    later(now_ + std::chrono::ceil<micros>(limit), [this, id] { pass_the_limit(id); });
  }
  later(now_ + std::max(took, micros(1)), [this, id] { end_call(id); });
}

void world::pass_the_limit(std::uint64_t id) {
  if (const auto found = calls_.find(id); found != calls_.end()) found->second->permit.mark_slow();
}

void world::end_call(std::uint64_t id) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;  // it died with its gateway
  running& it = *found->second;
  const bool connect = it.how.connect && it.how.how == verdict::failure;
  const verdict verdicts[2] = {it.how.cancelled || connect ? verdict::neutral : it.how.how,
                               it.how.cancelled ? verdict::neutral
                               : connect        ? verdict::failure
                                                : verdict::success};
  for (const scope which : both) {
    const std::size_t i = index_of(which);
    member& its = at(it.gateway).at(which);
    const bool late = it.generations[i] != its.gate.generation();
    if (it.probes[i] || !it.counted[i] || late || verdicts[i] == verdict::neutral) continue;
    ++its.expected.calls;
    its.expected.failures += verdicts[i] == verdict::failure;
  }
  it.permit.settle({verdicts[0]}, {verdicts[1], false, connect});
  if (it.permit.settle({verdict::failure}, {verdict::failure})) watcher_.fail(9, "a permit was settled twice");
  forget_call(it);
  calls_.erase(found);
}

void world::forget_call(const running& it) {
  for (const scope which : both) {
    if (it.probes[index_of(which)]) watcher_.probe_ended(which, it.generations[index_of(which)]);
  }
}

// The network.

void world::play(const flush& it) {
  gateway& by = at(it.gateway);
  // Redis publishes what changed. When the request will be lost, take it that the news was, too.
  if (it.there && !by.talking()) {
    for (const scope which : both) {
      by.at(which).changed |= by.at(which).view.generation != watcher_.of(which).generation;
    }
  }
  if (!by.begin(clock_of(it.gateway))) return;
  for (const port::board_entry& entry : by.entries()) watcher_.reported(by.at(entry.scope), entry.said);

  auto made = std::make_shared<parcel>();
  made->gateway = it.gateway;
  made->life = by.life();
  made->cut = it.cut;
  made->questions = by.questions();
  for (std::size_t i = 0; i < made->questions.size(); ++i) made->scopes.push_back(by.scope_of(i));
  made->answers.resize(made->questions.size());
  made->heard = it.there && it.back && *it.there + *it.back < timeout;
  if (!made->heard) it.there ? ++count_.late : ++count_.lost;
  const micros end = made->heard ? *it.there + *it.back : timeout;
  if (it.there) later(now_ + *it.there, [this, made] { deliver(*made, true); });
  if (it.there && it.again) {
    ++count_.repeated;
    later(now_ + *it.there + *it.again, [this, made] { deliver(*made, false); });
  }
  later(now_ + end, [this, made] { conclude(*made); });
}

void world::deliver(parcel& what, bool first) {
  if (what.questions.empty()) return;
  const auto said = redis_.carry_out(what.questions, redis_reading());
  const time_point reading{micros(redis_reading())};
  for (std::size_t i = 0; i < said.size(); ++i) {
    watcher_.carried_out(what.scopes[i], what.questions[i], said[i], reading, truly());
    if (first && what.heard && i < what.cut) what.answers[i] = said[i];
    if (++count_.exchanges % checked_windows != 0) continue;
    if (const auto seen = redis_.window(address_of(what.scopes[i]))) watcher_.window_is(what.scopes[i], *seen);
  }
}

void world::conclude(parcel& what) {
  gateway& by = at(what.gateway);
  if (by.life() != what.life) return;
  const std::uint64_t before[2] = {by.at(scope::tool).gate.generation(), by.at(scope::server).gate.generation()};
  by.end(what.answers, clock_of(what.gateway));
  count_.alone += by.at(scope::tool).alone;
  for (const port::board_entry& entry : by.entries()) {
    member& its = by.at(entry.scope);
    watcher_.told(its, before[index_of(entry.scope)], entry.answer, truly());
    // What was admitted under another generation is not reported any more.
    if (its.gate.generation() != before[index_of(entry.scope)]) its.expected = {};
  }
}

// What people and machines do.

void world::play(const order& it) {
  at(it.gateway).at(it.scope).ordered = port::board_entry::command{it.what, it.hold};
}

void world::play(const crash& it) {
  ++count_.crashes;
  const unsigned life = at(it.gateway).life() + 1;
  std::erase_if(calls_, [&](const auto& each) {
    if (each.second->gateway != it.gateway) return false;
    forget_call(*each.second);
    return true;
  });
  gateways_[it.gateway] = std::make_unique<gateway>(it.gateway, life, schedule_);
}

void world::play(const step& it) {
  ++count_.steps;
  redis_offset_ += it.by;
  watcher_.clock_set(it.by);
}

void world::play(const remember&) {
  for (const scope which : both) redis_.remember(address_of(which));
  watcher_.remember();
}

void world::play(const failover&) {
  ++count_.failovers;
  for (const scope which : both) redis_.restore(address_of(which));
  watcher_.fail_over();
}

void world::play(const forget& it) {
  ++count_.forgotten;
  redis_.forget(address_of(it.scope), it.state_only);
  watcher_.forget(it.scope, it.state_only);
}

// I12: with calls that come and succeed, and a network that works, every breaker closes, and all know it.
void world::recover() {
  constexpr micros beat = 50ms, settling = 3s, patience = 60s;
  const micros begun = now_;
  while (now_ - begun < patience && !watcher_.broken()) {
    // An order that a gateway gets while it is alone is its own, and one that is late may still come from any of them.
    if (now_ == begun || now_ == begun + settling) {
      for (unsigned i = 0; i < schedule_.gateways; ++i) {
        for (const scope which : both) play(order{i, which, breaker::order::automatic, 0s});
      }
    }
    for (unsigned i = 0; i < schedule_.gateways; ++i) {
      play(call{i, 5ms, verdict::success, false, false});
      play(flush{i, micros(200), micros(200), std::nullopt});
    }
    advance(now_ + beat);
    if (now_ - begun > settling + 200ms && at_rest()) return;
  }
  for (unsigned i = 0; i < schedule_.gateways && !watcher_.broken(); ++i) {
    for (const scope which : both) watcher_.at_rest(at(i), which, at(i).at(which));
  }
}

bool world::at_rest() {
  for (const auto& each : gateways_) {
    for (const scope which : both) {
      const breaker::gate& gate = each->at(which).gate;
      if (gate.state() != state::closed || gate.generation() != of(which).generation ||
          of(which).state != state::closed)
        return false;
    }
  }
  return true;
}

}  // namespace switchgear::sim::fleet
