#include "cascade/limit_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace switchgear::cascade {
namespace {

constexpr unsigned smallest_window = 30;
constexpr unsigned measured_every = 50;  // windows
constexpr unsigned measured_soon = 5;
constexpr double measured_at = 0.7;      // of the limit: no queue there, unless the limit is far too high
constexpr double suspicious = 0.6;       // of the highest limit since the base was learnt: has the target slowed down?
constexpr double least_surprise = 0.02;  // in a measured base, as a logarithm
constexpr double most_surprise = 0.1;
constexpr double steepest = 0.5;           // a window never takes more than half away
constexpr double weight_of_longer = 0.25;  // of a window in the base; a queue can only make it longer
constexpr double weight_of_shorter = 0.35;
constexpr double weight_of_noise = 0.1;
constexpr double most_noise = 0.5;  // more of a difference is no chance

// How many calls may queue at the target, so that it never runs dry.
double allowance(double limit) {
  return 0.4 * std::sqrt(limit);
}

}  // namespace

unsigned limit_tally::answered(duration took, unsigned in_flight) noexcept {
  note_peak(in_flight);
  const double log = std::log2(static_cast<double>(std::max<duration::rep>(took.count(), 1)));
  const std::uint64_t added = (std::uint64_t{1} << count_shift) + static_cast<std::uint64_t>(log * unit + 0.5);
  return size(answered_.fetch_add(added, std::memory_order_relaxed) + added);
}

unsigned limit_tally::timed_out(unsigned in_flight) noexcept {
  note_peak(in_flight);
  timed_out_.fetch_add(1, std::memory_order_relaxed);
  return size(answered_.load(std::memory_order_relaxed));
}

unsigned limit_tally::size(std::uint64_t word) const noexcept {
  return static_cast<unsigned>(word >> count_shift) + timed_out_.load(std::memory_order_relaxed);
}

void limit_tally::note_peak(unsigned in_flight) noexcept {
  unsigned peak = peak_.load(std::memory_order_relaxed);
  while (peak < in_flight && !peak_.compare_exchange_weak(peak, in_flight, std::memory_order_relaxed)) {
  }
}

limit_window limit_tally::take() noexcept {
  const std::uint64_t word = answered_.exchange(0, std::memory_order_relaxed);
  limit_window seen;
  seen.answered = static_cast<unsigned>(word >> count_shift);
  seen.timed_out = timed_out_.exchange(0, std::memory_order_relaxed);
  seen.peak = peak_.exchange(0, std::memory_order_relaxed);
  if (seen.answered == 0) return seen;
  const auto sum = static_cast<double>(word & ((std::uint64_t{1} << count_shift) - 1));
  seen.typical = duration(static_cast<duration::rep>(std::exp2(sum / unit / seen.answered)));
  return seen;
}

limit_gradient::limit_gradient(unsigned least, unsigned most, unsigned first)
    : least_(least),
      most_(most),
      limit_(first),
      highest_(first),
      interval_(measured_soon),
      until_measured_(measured_soon) {}

unsigned limit_gradient::limit() const {
  const double now = phase_ == phase::searching ? limit_ : std::max(least_, limit_ * measured_at);
  return static_cast<unsigned>(now);
}

unsigned limit_gradient::window_size(unsigned limit) {
  return std::max(smallest_window, 2 * limit);
}

void limit_gradient::update(const limit_window& seen) {
  switch (phase_) {
    case phase::searching:
      return search(seen);
    case phase::emptying:
      phase_ = phase::measuring;  // these calls began when there were more
      return;
    case phase::measuring:
      measured(seen);
      phase_ = phase::searching;
      last_ = 0;
      highest_ = limit_;
      return;
  }
}

// A surprise may be a queue that has not gone yet, and is looked at again before long; without one, less and less
// often.
void limit_gradient::measured(const limit_window& seen) {
  until_measured_ = interval_;
  if (seen.answered == 0) return;
  const double before = base_;
  const auto typical = static_cast<double>(seen.typical.count());
  if (typical < base_ / std::exp(4 * noise_)) base_ = typical;  // what was known had a queue in it
  learn(typical);
  const bool surprise = std::abs(std::log(base_ / before)) >= std::clamp(noise_, least_surprise, most_surprise);
  interval_ = surprise ? measured_soon : std::min(interval_ * 2, measured_every);
  until_measured_ = interval_;
}

void limit_gradient::learn(double typical) {
  const bool changed = typical > base_ * beyond_chance() || typical < base_ / beyond_chance();
  const double weight = typical < base_ ? weight_of_shorter : weight_of_longer;
  base_ = changed ? typical : base_ + (typical - base_) * weight;
}

// So many times the base, or so small a part of it, is another world.
double limit_gradient::beyond_chance() const {
  return std::max(2.0, std::exp(4 * noise_));
}

// By how much windows differ that follow each other under nearly the same limit.
void limit_gradient::listen(double typical) {
  const double last = std::exchange(last_, typical);
  if (last == 0) return;
  const double step = std::min(std::abs(std::log(typical / last)), most_noise);
  noise_ += (step - noise_) * weight_of_noise;
}

void limit_gradient::search(const limit_window& seen) {
  const auto typical = static_cast<double>(seen.typical.count());
  const bool half_unused = seen.peak <= limit_ / 2;
  if (seen.answered != 0) {
    listen(typical);
    // At the lowest limit there is no smaller queue to be had.
    const bool without_queue = half_unused || limit_ <= least_ || base_ == 0;
    if (without_queue || typical < base_ / beyond_chance()) learn(typical);
  }
  if (half_unused) {
    until_measured_ = measured_every;
    highest_ = limit_;
    return;
  }
  const double growth = seen.timed_out == 0 ? allowance(limit_) : 0;
  limit_ = std::clamp(limit_ * gradient(seen) + growth, least_, most_);
  highest_ = std::max(highest_, limit_);
  if (seen.answered == 0) return;
  if (--until_measured_ == 0 || limit_ < highest_ * suspicious) phase_ = phase::emptying;
}

double limit_gradient::gradient(const limit_window& seen) const {
  const double all = seen.answered + seen.timed_out;
  const double by_deadline = all == 0 ? 1 : 1 - seen.timed_out / all / 2;
  if (seen.answered == 0) return by_deadline;
  const double by_latency = base_ * std::exp(noise_) / static_cast<double>(seen.typical.count());
  return std::clamp(std::min(by_latency, by_deadline), steepest, 1.0);
}

}  // namespace switchgear::cascade
