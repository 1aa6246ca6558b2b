// Where in Redis an answer to a question is kept, and the words with which it is put there and found.
#pragma once

#include "base/time.hpp"
#include "peers/redis/response.hpp"
#include "peers/redis/slot.hpp"
#include "port/answers.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace switchgear::peers::redis {

/// All answers of all replicas stand on a few shelves of equal size, so that one function can keep each within its
/// bound, and a cluster can share the work. Nothing but words: what they do is in library/answers.lua.
class shelves {
 public:
  static constexpr unsigned count = 16;  // all replicas must look on the same one

  /// `bytes`: of all answers together, with what each costs besides.
  shelves(std::string_view prefix, std::size_t bytes);

  /// The answer was given `age` ago, and is to be kept for `life` (> 0) from now on.
  routed put(const port::question_digest& asked, std::string result, duration age, duration life) const;
  routed find(const port::question_digest& asked, duration max_age) const;
  /// The answer to find(). Nothing: there is none, or what came is no answer.
  static std::optional<port::answers::found> read(response said);

 private:
  std::string key(const port::question_digest& asked, char kind) const;

  const std::string prefix_;
  const std::string most_;  // bytes of one shelf, in digits
};

}  // namespace switchgear::peers::redis
