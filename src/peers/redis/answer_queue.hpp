// Answers that wait until they are written down for the other replicas.
#pragma once

#include "base/time.hpp"
#include "port/answers.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

namespace switchgear::peers::redis {

/// Bounded in bytes: the oldest make room. Of one question only the newest answer waits, in the place of the one
/// before it. No clock. Not thread-safe.
class answer_queue {
 public:
  struct entry {
    port::question_digest asked;
    std::string result;
    time_point given;
    time_point until;  // of no use after that
  };

  explicit answer_queue(std::size_t most_bytes) : most_(most_bytes) {}

  void add(entry what);
  /// From the oldest on, at most so many, and no more bytes than this unless it is one alone. Without those that are of
  /// no use any more.
  std::vector<entry> take(std::size_t entries, std::size_t bytes, time_point now);

  bool empty() const { return waiting_.empty(); }
  std::size_t bytes() const { return bytes_; }
  /// How many found no place.
  std::uint64_t dropped() const { return dropped_; }

 private:
  static constexpr std::size_t overhead = 256;
  static std::size_t cost(const entry& of) { return of.result.size() + overhead; }
  entry take_first();

  const std::size_t most_;
  std::list<entry> waiting_;  // oldest first
  std::map<port::question_digest, std::list<entry>::iterator> by_question_;
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace switchgear::peers::redis
