#include "sim/fleet/gateway.hpp"

#include <algorithm>
#include <utility>

namespace switchgear::sim::fleet {
namespace {

constexpr duration refresh = std::chrono::seconds(1);  // of what others may have changed

}  // namespace

gateway::gateway(unsigned number, unsigned life, const schedule& from)
    : life_(life),
      instance_(std::string(1, static_cast<char>('a' + number)) + "-" + std::to_string(life)),
      members_{std::make_unique<member>(std::string(tool_name), breaker::scope::tool, from.tool),
               std::make_unique<member>(std::string(server_name), breaker::scope::server, from.server)},
      books_(port::redis_settings{}, instance_, from.seed * 1000 + number * 100 + life, nullptr) {}

bool gateway::begin(time_point now) {
  if (talking_) return false;
  entries_.clear();
  for (const auto& each : members_) {
    port::board_entry entry;
    if (hear(*each, now, entry)) entries_.push_back(std::move(entry));
  }
  if (entries_.empty()) return false;
  questions_.clear();
  for (peers::redis::routed& each : books_.ask(entries_, now)) questions_.push_back(std::move(each.words));
  asked_at_ = now;
  talking_ = true;
  return true;
}

// As the flusher does it.
bool gateway::hear(member& from, time_point now, port::board_entry& into) {
  into.said = from.gate.collect(now);
  const bool old = now - from.heard >= refresh || std::exchange(from.changed, false);
  if (into.said.empty() && !from.view.watch && !old && from.told_settings && !from.ordered) return false;
  from.told_settings = true;
  into.name = from.gate.name();
  into.scope = from.gate.scope();
  into.settings = &from.settings;
  into.revision = 1;
  into.ordered = std::exchange(from.ordered, std::nullopt);
  return true;
}

breaker::scope gateway::scope_of(std::size_t question) const {
  static const peers::redis::address tool("cb1", tool_name);
  return questions_[question].at(3) == tool.state ? breaker::scope::tool : breaker::scope::server;
}

void gateway::end(const std::vector<peers::redis::receipt>& said, time_point now) {
  const unsigned before = replicas();
  books_.hear(entries_, said, "no answer", now);
  books_.take_lines();
  for (const port::board_entry& entry : entries_) {
    member& to = at(entry.scope);
    to.gate.apply(entry.answer, asked_at_);
    to.view = entry.answer.view;
    to.heard = asked_at_;
    const bool alone = books_.alone(to.gate.name());
    if (alone && !to.alone) to.replicas = before;
    to.alone = alone;
  }
  talking_ = false;
}

}  // namespace switchgear::sim::fleet
