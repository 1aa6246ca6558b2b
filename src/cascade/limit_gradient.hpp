// A concurrency limit that finds itself: it grows while the target answers as fast as it does without a queue, and
// shrinks by as much as it got slower.
// Source: the idea of "Performance Under Load" (Netflix Technology Blog, 2018) and its gradient limit, which goes back
// to TCP Vegas: Brakmo and Peterson, "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE JSAC
// 13(8), 1995.
#pragma once

#include "base/time.hpp"

#include <atomic>
#include <cstdint>

namespace switchgear::cascade {

/// What was seen of some calls that ended one after the other.
struct limit_window {
  unsigned answered = 0;   ///< ran and succeeded; what failed or was refused says nothing of how fast the target is
  unsigned timed_out = 0;  ///< ran into their deadline
  unsigned peak = 0;       ///< most calls under way when one of them ended, itself included
  duration typical{};      ///< geometric mean of the answered ones' lengths: a few very slow calls do not move it far
};

/// Collects a window. Any thread; two or three atomic operations a call.
class limit_tally {
 public:
  /// A call was answered after `took`, or timed out, with `in_flight` under way. Gives how many this window has now.
  unsigned answered(duration took, unsigned in_flight) noexcept;
  unsigned timed_out(unsigned in_flight) noexcept;

  /// How many calls the window has so far.
  unsigned size() const noexcept { return size(answered_.load(std::memory_order_relaxed)); }
  /// The window so far; the next one begins.
  limit_window take() noexcept;

 private:
  static constexpr unsigned count_shift = 44;  // above it the number of answered calls, below the sum of logarithms
  static constexpr double unit = 1024;         // of a logarithm

  unsigned size(std::uint64_t word) const noexcept;
  void note_peak(unsigned in_flight) noexcept;

  // One word, so that the sum is always that of as many calls as are counted.
  std::atomic<std::uint64_t> answered_{0};
  std::atomic<unsigned> timed_out_{0};
  std::atomic<unsigned> peak_{0};
};

/// The limit of one target. Not thread-safe. Has no clock: its time goes by windows, which are about two rounds of all
/// calls that the limit allows.
///
/// The base is what a call takes without a queue. It is learnt whenever the limit is half unused; when that does not
/// happen for a while, the limit goes down to a part for two windows so that it can be. Without that the base would
/// follow a queue that builds up slowly, and the limit would follow the base.
class limit_gradient {
 public:
  /// 1 <= least <= first <= most.
  limit_gradient(unsigned least, unsigned most, unsigned first);

  /// Most calls at once from now on.
  unsigned limit() const;
  /// How many ended calls make a window.
  static unsigned window_size(unsigned limit);
  /// A window has passed under limit().
  void update(const limit_window& seen);
  /// What a call takes without a queue; zero: not known yet.
  duration base() const { return duration(static_cast<duration::rep>(base_)); }

 private:
  enum class phase : std::uint8_t { searching, emptying, measuring };

  void learn(double typical);
  void listen(double typical);
  void measured(const limit_window& seen);
  void search(const limit_window& seen);
  double gradient(const limit_window& seen) const;
  double beyond_chance() const;

  double least_;
  double most_;
  double limit_;
  double highest_;      // since the base was learnt
  double base_ = 0;     // ns
  double last_ = 0;     // ns, of the last window
  double noise_ = 0.1;  // by which windows differ by chance, as a logarithm
  phase phase_ = phase::searching;
  unsigned interval_;  // between two measurements of the base
  unsigned until_measured_;
};

}  // namespace switchgear::cascade
