#include "cascade/loops.hpp"

#include <algorithm>
#include <iterator>

namespace switchgear::cascade {

std::optional<loops::loop> loops::find(const loop_key& key, const loop_policy& policy, time_point now) {
  shard& home = shard_of(key);
  const std::lock_guard lock(home.mutex);
  const auto found = home.by_key.find(key);
  if (found == home.by_key.end()) return std::nullopt;
  const auto which = found->second;
  const auto counts = [&](time_point failure) { return now - failure < policy.window; };
  const auto recent = static_cast<unsigned>(std::ranges::count_if(which->failures, counts));
  if (recent == 0) erase(home, which);
  if (recent == 0 || recent < policy.failures) return std::nullopt;
  home.by_use.splice(home.by_use.begin(), home.by_use, which);
  return loop{recent, which->words};
}

void loops::failed(const loop_key& key, const loop_policy& policy, std::string_view words, time_point now) {
  shard& home = shard_of(key);
  const std::lock_guard lock(home.mutex);
  if (const auto found = home.by_key.find(key); found != home.by_key.end()) {
    home.by_use.splice(home.by_use.begin(), home.by_use, found->second);
  } else {
    if (most_each_ == 0) return;
    if (home.by_use.size() >= most_each_) erase(home, std::prev(home.by_use.end()));
    home.by_use.push_front({key, {}, {}});
    home.by_key.emplace(key, home.by_use.begin());
    size_.fetch_add(1, std::memory_order_relaxed);
  }
  entry& made = home.by_use.front();
  // Of calls that ran side by side the one that began first may end last.
  made.failures.insert(std::ranges::upper_bound(made.failures, now), now);
  if (made.failures.size() > policy.failures) made.failures.erase(made.failures.begin());
  made.words = words.substr(0, most_words);
}

void loops::succeeded(const loop_key& key) {
  shard& home = shard_of(key);
  const std::lock_guard lock(home.mutex);
  if (const auto found = home.by_key.find(key); found != home.by_key.end()) erase(home, found->second);
}

void loops::erase(shard& home, std::list<entry>::iterator which) {
  home.by_key.erase(which->key);
  home.by_use.erase(which);
  size_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace switchgear::cascade
