// For how long a tool that asked for fewer calls is left alone.
// Source: RC-068; RFC 9110 section 10.2.3, RFC 6585 section 4.
#pragma once

#include "base/time.hpp"
#include "cascade/retry.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace switchgear::cascade {

/// Of an answer that names no time, or none that is one.
inline constexpr duration default_pause = std::chrono::seconds(1);

/// The pause that an answer asks for: its Retry-After, longest_retry_after of it at most; without one that says more
/// than zero, default_pause.
duration pause_length(std::optional<duration> retry_after);

/// Until when one tool is left alone, for each credential with which it is called, since a quota belongs to whoever
/// asks. Any thread. No clock.
class pause {
 public:
  /// Paused at one time; the one that ends first makes room for more.
  static constexpr std::size_t most_credentials = 1000;

  /// What is left of the longest one, 0 if nothing is. One relaxed load.
  duration longest(time_point now) const {
    const duration left(last_end_.load(std::memory_order_relaxed) - now.time_since_epoch().count());
    return std::max(left, duration::zero());
  }
  /// What is left for this credential, whatever text stands for it.
  duration left(std::string_view credential, time_point now) const;

  /// Left alone until then, at least: nothing makes a pause shorter, a success neither, since whoever succeeds now
  /// began before it. True if that is longer than what was known.
  bool lengthen(std::string_view credential, time_point until, time_point now);

 private:
  struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };

  void make_room(time_point now);

  std::atomic<time_point::rep> last_end_{0};
  mutable std::mutex mutex_;  // of what follows, and of writing what stands above
  std::unordered_map<std::string, time_point, text_hash, std::equal_to<>> ends_;  // by credential
};

}  // namespace switchgear::cascade
