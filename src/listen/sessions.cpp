#include "listen/sessions.hpp"

#include "protocol/severity.hpp"

#include <utility>

namespace switchgear::listen {

bool session::set_log_level(std::string_view raw) {
  const auto place = protocol::severity_of(raw);
  if (!place) return false;
  level_.store(&protocol::severities[*place], std::memory_order_relaxed);
  return true;
}

bool session::use(time_point now, duration interval) {
  used_.store(now, std::memory_order_relaxed);
  time_point told = told_.load(std::memory_order_relaxed);
  if (told != time_point{} && now - told < interval) return false;
  return told_.compare_exchange_strong(told, now, std::memory_order_relaxed);
}

std::shared_ptr<session> sessions::add(std::string id, const session_facts& facts, time_point now) {
  if (count() >= most_) sweep(now);
  if (count() >= most_) return nullptr;
  auto fresh = std::make_shared<session>(std::move(id), facts, now);
  shard& home = shard_of(fresh->id());
  const std::lock_guard lock(home.mutex);
  return home.live.emplace(fresh->id(), fresh).first->second;
}

std::shared_ptr<session> sessions::find(std::string_view id, time_point now) {
  shard& home = shard_of(id);
  std::shared_ptr<session> found;
  {
    const std::lock_guard lock(home.mutex);
    const auto at = home.live.find(id);
    if (at == home.live.end()) return nullptr;
    found = at->second;
    if (!is_idle(*found, now)) return found;
    home.live.erase(at);
  }
  on_end_(*found);
  return nullptr;
}

bool sessions::end(std::string_view id) {
  remember(id);
  shard& home = shard_of(id);
  std::shared_ptr<session> gone;
  {
    const std::lock_guard lock(home.mutex);
    const auto at = home.live.find(id);
    if (at == home.live.end()) return false;
    gone = at->second;  // whose id is the entry's key
    home.live.erase(at);
  }
  on_end_(*gone);
  return true;
}

void sessions::remember(std::string_view id) {
  const std::lock_guard lock(ended_mutex_);
  if (ended_.contains(id)) return;
  if (ended_order_.size() == most_remembered) {
    ended_.erase(ended_order_.front());
    ended_order_.pop_front();
  }
  ended_.insert(ended_order_.emplace_back(id));
}

bool sessions::ended(std::string_view id) const {
  const std::lock_guard lock(ended_mutex_);
  return ended_.contains(id);
}

std::vector<std::shared_ptr<session>> sessions::sweep(time_point now) {
  std::vector<std::shared_ptr<session>> gone, streaming;
  for (shard& one : shards_) {
    const std::lock_guard lock(one.mutex);
    for (auto at = one.live.begin(); at != one.live.end();) {
      if (at->second->stream() != 0) streaming.push_back(at->second);
      if (!is_idle(*at->second, now)) {
        ++at;
        continue;
      }
      // The key is a view of the session's own id.
      gone.push_back(at->second);
      at = one.live.erase(at);
    }
  }
  for (const auto& one : gone) on_end_(*one);
  return streaming;
}

std::size_t sessions::count() const {
  std::size_t sum = 0;
  for (const shard& one : shards_) {
    const std::lock_guard lock(one.mutex);
    sum += one.live.size();
  }
  return sum;
}

}  // namespace switchgear::listen
