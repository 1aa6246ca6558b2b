#include "cascade/answer_cache.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace switchgear::cascade {
namespace {

constexpr std::size_t most_shards = 16;
// List and map nodes, control block and string: what one small answer costs beside its text (measured about 250).
constexpr std::size_t overhead = 256;

// A shard that cannot hold two of the largest entries would drop answers while others have room.
std::size_t shard_count(const answer_cache::limits& most) {
  const std::size_t fitting = most.bytes / (2 * std::max<std::size_t>(most.entry_bytes + overhead, 1));
  return std::clamp<std::size_t>(fitting, 1, most_shards);
}

}  // namespace

bool cacheable(const candidate& answer) {
  return answer.read_only && answer.is_result && !answer.is_error && !answer.in_dialogue;
}

answer_cache::answer_cache(limits most) : most_(most), shards_(shard_count(most)) {}

std::size_t answer_cache::cost(std::size_t result_bytes) {
  return result_bytes + overhead;
}

void answer_cache::shard::erase(std::list<entry>::iterator which) {
  bytes -= cost(which->result->size());
  by_key.erase(which->key);
  by_use.erase(which);
}

void answer_cache::store(const answer_key& key, std::string_view result, time_point now) {
  const std::size_t room = most_.bytes / shards_.size();
  const bool fits = result.size() <= most_.entry_bytes && cost(result.size()) <= room;
  auto text = fits ? std::make_shared<const std::string>(result) : nullptr;

  shard& home = shard_of(key);
  const std::lock_guard lock(home.mutex);
  if (auto present = home.by_key.find(key); present != home.by_key.end()) {
    // A call that was overtaken must not put its older answer in the place of a newer one.
    if (present->second->stored > now) return;
    home.erase(present->second);
  }
  if (!fits) return;
  while (home.bytes + cost(result.size()) > room) home.erase(std::prev(home.by_use.end()));
  home.by_use.push_front({key, std::move(text), now});
  home.by_key.emplace(key, home.by_use.begin());
  home.bytes += cost(result.size());
}

std::optional<answer_cache::hit> answer_cache::find(const answer_key& key, time_point now, duration max_age) {
  shard& home = shard_of(key);
  const std::lock_guard lock(home.mutex);
  const auto found = home.by_key.find(key);
  if (found == home.by_key.end()) return std::nullopt;
  const auto which = found->second;
  const duration age = std::max(now - which->stored, duration::zero());
  if (age > max_age) return std::nullopt;  // kept: another step may take it at a greater age
  home.by_use.splice(home.by_use.begin(), home.by_use, which);
  return hit{which->result, age};
}

std::size_t answer_cache::bytes() const {
  std::size_t sum = 0;
  for (const shard& one : shards_) {
    const std::lock_guard lock(one.mutex);
    sum += one.bytes;
  }
  return sum;
}

std::size_t answer_cache::size() const {
  std::size_t sum = 0;
  for (const shard& one : shards_) {
    const std::lock_guard lock(one.mutex);
    sum += one.by_key.size();
  }
  return sum;
}

}  // namespace switchgear::cascade
