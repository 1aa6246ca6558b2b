#include "observe/metrics.hpp"

#include "observe/log.hpp"

#include <cassert>
#include <chrono>

namespace switchgear::observe {

namespace {

constexpr std::string_view overflow_name = "_other";

}  // namespace

metrics::metrics(unsigned workers, log* events)
    : shards_(workers),
      events_(events),
      started_(std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count()) {}

metrics::~metrics() = default;

std::uint32_t metrics::tool_slot(std::string_view exported_name) {
  const std::lock_guard lock(mutex_);
  if (const auto found = slots_.find(exported_name); found != slots_.end()) return found->second;
  if (names_.size() < most_tools - 1) return add_slot(std::string(exported_name));
  if (const auto found = slots_.find(overflow_name); found != slots_.end()) return found->second;
  return add_slot(std::string(overflow_name));
}

std::uint32_t metrics::add_slot(std::string name) {
  const auto slot = static_cast<std::uint32_t>(names_.size());
  if (slot % chunk_tools == 0) {
    for (shard& each : shards_) {
      owned_.push_back(std::make_unique<chunk>());
      // A data thread that was handed the slot's number must find the zeroed counters behind it.
      each.chunks[slot / chunk_tools].store(owned_.back().get(), std::memory_order_release);
    }
  }
  slots_.emplace(name, slot);
  names_.push_back(std::move(name));
  return slot;
}

tool_counters* metrics::of(const shard& mine, std::uint32_t slot) const noexcept {
  if (slot >= most_tools) return nullptr;
  chunk* const block = mine.chunks[slot / chunk_tools].load(std::memory_order_acquire);
  return block ? &(*block)[slot % chunk_tools] : nullptr;
}

void metrics::call_finished(unsigned worker, const port::call_record& record) noexcept {
  assert(worker < shards_.size());
  if (tool_counters* const mine = of(shards_[worker], record.tool)) mine->add(record);
}

void metrics::refused(unsigned worker, port::refusal why) noexcept {
  shards_[worker].refused[static_cast<unsigned>(why)].add(1);
}

void metrics::connections(unsigned worker, int change) noexcept {
  // Two counters that only rise: a gauge written by one thread and summed by another could be read half way.
  shard& mine = shards_[worker];
  if (change >= 0) {
    mine.opened.add(static_cast<std::uint64_t>(change));
  } else {
    mine.ended.add(static_cast<std::uint64_t>(-change));
  }
}

void metrics::transition(const port::transition_record& record) {
  {
    const std::lock_guard lock(mutex_);
    ++transitions_[{std::string(record.scope), std::string(record.from), std::string(record.to),
                    std::string(record.reason)}];
  }
  if (!events_) return;
  events_->event(record.to == "open" ? level::warning : level::info, "transition",
                 {{"scope", record.scope},
                  {"from", record.from},
                  {"to", record.to},
                  {"reason", record.reason},
                  {"generation", std::to_string(record.generation)}});
}

void metrics::late_answer(std::string_view alias) {
  const std::lock_guard lock(mutex_);
  ++late_answers_[std::string(alias)];
}

void metrics::upstream_changed(std::string_view alias, bool ready, std::string_view reason) {
  {
    const std::lock_guard lock(mutex_);
    upstream_seen now{ready, std::string(reason)};
    const auto [at, added] = upstreams_.try_emplace(std::string(alias), now);
    if (!added && at->second == now) return;  // an upstream that stays down is one line, not one a retry
    at->second = std::move(now);
  }
  if (!events_) return;
  if (ready) {
    events_->event(level::info, "upstream_ready", {{"upstream", alias}});
  } else {
    events_->event(level::warning, "upstream_degraded", {{"upstream", alias}, {"reason", reason}});
  }
}

void metrics::credential_changed(std::string_view alias, int status) {
  {
    const std::lock_guard lock(mutex_);
    const bool changed = status != 0 ? rejecting_.emplace(alias).second : rejecting_.erase(std::string(alias)) != 0;
    if (!changed) return;
  }
  if (!events_) return;
  if (status != 0) {
    events_->event(level::warning, "credential_rejected", {{"upstream", alias}, {"status", std::to_string(status)}});
  } else {
    events_->event(level::info, "credential_accepted", {{"upstream", alias}});
  }
}

void metrics::board_changed(bool shared, std::string_view reason) {
  if (!events_) return;
  if (shared) {
    events_->event(level::info, "board_shared", {{"reason", reason}});
  } else {
    events_->event(level::warning, "board_local", {{"reason", reason}});
  }
}

tool_totals metrics::totals(std::uint32_t slot) const {
  tool_totals sum;
  for (const shard& each : shards_) {
    if (const tool_counters* const part = of(each, slot)) part->add_to(sum);
  }
  return sum;
}

tool_totals metrics::of_tool(std::string_view exported_name) const {
  const std::lock_guard lock(mutex_);
  const auto found = slots_.find(exported_name);
  return found == slots_.end() ? tool_totals{} : totals(found->second);
}

std::array<std::uint64_t, cascade::served_by_count> metrics::answered_by() const {
  const std::lock_guard lock(mutex_);
  std::array<std::uint64_t, cascade::served_by_count> sum{};
  for (std::uint32_t slot = 0; slot < names_.size(); ++slot) {
    const tool_totals tool = totals(slot);
    for (std::size_t who = 0; who < sum.size(); ++who) {
      for (std::uint64_t n : tool.calls[who]) sum[who] += n;
    }
  }
  return sum;
}

}  // namespace switchgear::observe
