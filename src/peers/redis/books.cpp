#include "peers/redis/books.hpp"

#include <algorithm>
#include <utility>

namespace switchgear::peers::redis {
namespace {

std::string after(duration away) {
  return "after " + std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(away).count()) + " ms alone";
}

}  // namespace

books::books(const port::redis_settings& settings, std::string instance, std::uint64_t seed, place place_of)
    : prefix_(settings.prefix), self_{std::move(instance), settings.settings_version, false}, random_(seed) {
  figures_.shared = true;
  if (settings.shape != port::redis_settings::layout::cluster) return;
  self_.sharded_news = true;
  place_of_ = std::move(place_of);
}

books::scope& books::find_or_make(const port::board_entry& entry, time_point now) {
  auto found = scopes_.find(entry.name);
  if (found == scopes_.end()) {
    found = scopes_.emplace(std::string(entry.name), scope{ledger(entry, prefix_, now), nullptr}).first;
  }
  settle_place(found->second);
  return found->second;
}

// While a cluster has no map, a scope stays with the node that had it last, and so with what is known of that node.
void books::settle_place(scope& of) {
  const std::string_view name = place_of_ ? place_of_(of.its.slot()) : std::string_view();
  if (of.at != nullptr && (name.empty() || name == of.at->name)) return;
  node* const before = of.at;
  auto found = nodes_.find(name);
  if (found == nodes_.end()) {
    found = nodes_.try_emplace(std::string(name)).first;
    found->second.name = name;
  }
  of.at = &found->second;
  ++of.at->scopes;
  if (before != nullptr) leave(*before);
}

// A node without scopes has lost its slots to others: nobody will ever hear whether it is back.
void books::leave(node& from) {
  if (--from.scopes > 0) return;
  if (from.away.alone())
    lines_.push_back({true, from.name.empty() ? "connected" : about(from, "others have its slots now")});
  nodes_.erase(nodes_.find(from.name));
}

std::string books::about(const node& which, std::string text) {
  return which.name.empty() || text.starts_with(which.name) ? text : which.name + ": " + text;
}

std::vector<routed> books::ask(std::vector<port::board_entry>& entries, time_point now) {
  asked_at_ = now;
  turns_.clear();
  for (auto& [name, each] : nodes_) each.asked = each.answered = false;
  std::vector<routed> questions;
  for (const port::board_entry& entry : entries) {
    scope& its = find_or_make(entry, now);
    turn& one = turns_.emplace_back(turn{&its, 0});
    if (!its.at->away.may_try(now) || !its.its.may_ask(now)) continue;
    its.at->asked = true;
    one.questions = its.its.ask(entry, self_, now, chance(), questions);
  }
  return questions;
}

void books::hear(std::vector<port::board_entry>& entries, std::span<const receipt> said, std::string_view trouble,
                 time_point now) {
  judge_nodes(said, trouble, now);
  std::size_t next = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const turn& one = turns_[i];
    conclude(one, entries[i], said.subspan(next, one.questions));
    next += one.questions;
  }
  while (auto due = complaints_.due(now)) lines_.push_back({due->healed, std::move(due->text)});
}

// A node that says anything of use about any of its scopes is there.
void books::judge_nodes(std::span<const receipt> said, std::string_view trouble, time_point now) {
  std::size_t next = 0;
  for (const turn& one : turns_) {
    node& at = *one.of->at;
    for (const receipt& each : said.subspan(next, one.questions)) {
      if (each.kind == receipt::kind::text || each.disowns()) at.answered = true;
      if (each.kind == receipt::kind::error) at.error = each.text;
    }
    next += one.questions;
  }
  const bool first = figures_.flushes == 0;
  for (auto& [name, each] : nodes_) {
    if (!each.asked) continue;
    const std::string error = std::exchange(each.error, {});
    if (each.answered) {
      ++figures_.flushes;
      figures_.took.add(now - asked_at_);
      if (const auto away = each.away.found(now)) lines_.push_back({true, about(each, after(*away))});
    } else {
      ++figures_.missed;
      if (!each.away.missed(now, chance())) continue;
      ++figures_.losses;
      lines_.push_back({false, about(each, error.empty() ? std::string(trouble) : error)});
    }
  }
  if (first && figures_.flushes > 0 && figures_.losses == 0) lines_.push_back({true, "connected"});
}

void books::conclude(const turn& one, port::board_entry& entry, std::span<const receipt> said) {
  ledger& its = one.of->its;
  const node& at = *one.of->at;
  if (said.empty() || !at.answered) {
    if (said.empty() || at.away.alone() || its.alone()) {
      its.decide(entry, replicas_, asked_at_, chance());
    } else {
      its.wait(entry, asked_at_);
    }
    return;
  }
  const ledger::hearing heard = its.hear(entry, said, replicas_, asked_at_, chance());
  if (!heard.trouble.empty()) complaints_.lost(its.name(), heard.trouble);
  if (!heard.answered) return;
  if (heard.healed) complaints_.found(its.name(), after(*heard.healed));
  replicas_ = std::max(1u, heard.replicas);
  figures_.leases_granted += heard.granted;
  figures_.leases_returned += heard.returned;
  figures_.leases_expired += heard.expired;
}

void books::look_again() {
  for (auto& [name, each] : nodes_) each.away.look_again();
}

std::vector<books::line> books::take_lines() {
  return std::exchange(lines_, {});
}

bool books::alone(std::string_view scope) const {
  const auto found = scopes_.find(scope);
  return found != scopes_.end() && found->second.its.alone();
}

port::board_figures books::figures() const {
  const auto is_alone = [](const auto& each) { return each.second.away.alone(); };
  port::board_figures now = figures_;
  now.shared = std::ranges::none_of(nodes_, is_alone);
  const bool nobody = !nodes_.empty() && std::ranges::all_of(nodes_, is_alone);
  now.replicas = nobody ? 0 : replicas_;
  return now;
}

}  // namespace switchgear::peers::redis
