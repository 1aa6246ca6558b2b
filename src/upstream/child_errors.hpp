// What a child writes on stderr: kept a little, shown a little, never a reason to stop reading.
#pragma once

#include "base/time.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace switchgear::upstream {

/// Takes the bytes in pieces, as they come. Memory is bounded whatever comes: a tail of 8 KiB and one unfinished line
/// of 512 bytes. Lines are made safe to print: control characters and bytes that are not UTF-8 become '?'. No clock of
/// its own. Not thread-safe.
class child_errors {
 public:
  static constexpr std::size_t tail_size = 8 * 1024;
  static constexpr std::size_t longest_line = 512;
  static constexpr unsigned burst = 20;      // lines shown at once
  static constexpr unsigned per_second = 2;  // and afterwards, on average

  /// Adds `piece`; calls show(std::string_view) for each finished line that the rate lets through. A line longer than
  /// longest_line is shown cut.
  template <class Show>
  void add(std::string_view piece, time_point now, Show&& show) {
    keep(piece);
    while (!piece.empty()) {
      if (const std::string* line = next_line(piece, now)) show(std::string_view(*line));
    }
  }

  /// The last lines, joined by " | ", at most `limit` bytes: why a child died, in its own words.
  std::string last_words(std::size_t limit = 300) const;

  std::uint64_t hidden() const { return hidden_all_; }  ///< lines that the rate kept back

 private:
  void keep(std::string_view piece);
  const std::string* next_line(std::string_view& piece, time_point now);

  std::string tail_;
  std::string line_;
  std::string shown_;
  bool cut_ = false;
  double allowance_ = burst;
  time_point last_{};
  std::uint64_t hidden_ = 0;
  std::uint64_t hidden_all_ = 0;
};

}  // namespace switchgear::upstream
