// Agents that go round in circles: which calls have failed how often with the same arguments.
#pragma once

#include "base/time.hpp"
#include "cascade/loop_policy.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace switchgear::cascade {

/// 128 bits that stand for (who asks, tool, arguments), from a cryptographic hash.
using loop_key = std::array<unsigned char, 16>;

/// The failures of late, by call. Bounded: the call that nobody asked about for the longest time is forgotten first.
/// Thread-safe: shards with a mutex each, touched only for tools that have a loop policy. No clock.
class loops {
 public:
  static constexpr std::size_t shards = 16;
  static constexpr std::size_t most_words = 200;  ///< bytes of an error that are kept

  /// What is known of a call that is not to be made again.
  struct loop {
    unsigned failures = 0;  ///< in the window
    std::string words;      ///< how the last error began
  };

  /// `most_calls`: remembered, over all shards.
  explicit loops(std::size_t most_calls = 10'000) : most_each_(most_calls / shards) {}
  loops(const loops&) = delete;
  loops& operator=(const loops&) = delete;

  /// Nothing is remembered, so there is nothing to find. One relaxed load.
  bool empty() const { return size_.load(std::memory_order_relaxed) == 0; }
  std::size_t size() const { return size_.load(std::memory_order_relaxed); }

  /// Whether the call has failed so often in the window before `now` that it is not to be made. As failures leave the
  /// window, one is made now and then.
  std::optional<loop> find(const loop_key& key, const loop_policy& policy, time_point now);
  /// The call was made and failed. `words` in UTF-8, cut to most_words.
  void failed(const loop_key& key, const loop_policy& policy, std::string_view words, time_point now);
  /// The call was made, and is well.
  void succeeded(const loop_key& key);

 private:
  struct entry {
    loop_key key;
    std::vector<time_point> failures;  // the last ones, as many as the policy counts, the oldest first
    std::string words;
  };
  struct key_hash {
    std::size_t operator()(const loop_key& key) const noexcept {
      std::size_t value;
      std::memcpy(&value, key.data(), sizeof value);
      return value;
    }
  };
  struct shard {
    std::mutex mutex;
    std::list<entry> by_use;  // most recently used first
    std::unordered_map<loop_key, std::list<entry>::iterator, key_hash> by_key;
  };

  // The map looks at the first bytes of a key, so the shard is chosen by its last.
  shard& shard_of(const loop_key& key) { return shards_[key.back() % shards]; }
  void erase(shard& home, std::list<entry>::iterator which);

  const std::size_t most_each_;
  std::array<shard, shards> shards_;
  std::atomic<std::size_t> size_{0};
};

}  // namespace switchgear::cascade
