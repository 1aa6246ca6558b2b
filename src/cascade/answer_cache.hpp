// The last good answer to each question, bounded in bytes: what a cache step looks into.
#pragma once

#include "base/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace switchgear::cascade {

/// 128 bits that stand for (principal, tool, schema, arguments). Collisions would hand one caller's answer to another,
/// so they come from a cryptographic hash.
using answer_key = std::array<unsigned char, 16>;

/// What decides whether an answer may be stored.
struct candidate {
  bool read_only = false;    ///< the tool only reads
  bool is_result = false;    ///< a JSON-RPC result, under a good status, complete
  bool is_error = false;     ///< the result says isError
  bool in_dialogue = false;  ///< it asks for input, or came of input: it belongs to one conversation
};

/// Only a complete good result of a tool that only reads may be given again (MCP 2026-07-28, basic/patterns/mrtr).
bool cacheable(const candidate& answer);

/// Bounded LRU. Thread-safe: shards with a mutex each, touched only for tools that have a cache step. No clock.
class answer_cache {
 public:
  struct limits {
    std::size_t bytes = 64 * 1024 * 1024;   ///< of all answers and their bookkeeping together; 0: nothing is kept
    std::size_t entry_bytes = 1024 * 1024;  ///< of one answer; a larger one is not kept
  };

  struct hit {
    std::shared_ptr<const std::string> result;  ///< JSON
    duration age{};
  };

  explicit answer_cache(limits most);
  answer_cache(const answer_cache&) = delete;
  answer_cache& operator=(const answer_cache&) = delete;

  /// Puts `result` in the place of the present answer. Too large: the present one goes too, since it is outdated.
  void store(const answer_key& key, std::string_view result, time_point now);

  /// The answer if it is at most `max_age` old.
  std::optional<hit> find(const answer_key& key, time_point now, duration max_age);

  std::size_t bytes() const;
  std::size_t size() const;

 private:
  struct entry {
    answer_key key;
    std::shared_ptr<const std::string> result;
    time_point stored;
  };
  struct key_hash {
    std::size_t operator()(const answer_key& key) const noexcept {
      std::size_t value;
      std::memcpy(&value, key.data(), sizeof value);
      return value;
    }
  };
  struct shard {
    mutable std::mutex mutex;
    std::list<entry> by_use;  // most recently used first
    std::unordered_map<answer_key, std::list<entry>::iterator, key_hash> by_key;
    std::size_t bytes = 0;

    void erase(std::list<entry>::iterator which);
  };

  static std::size_t cost(std::size_t result_bytes);
  // The map looks at the first bytes of a key, so the shard is chosen by its last.
  shard& shard_of(const answer_key& key) { return shards_[key.back() % shards_.size()]; }

  limits most_;
  std::vector<shard> shards_;
};

}  // namespace switchgear::cascade
