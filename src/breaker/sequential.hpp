// R2: notices an outage within a fixed number of failures, whatever good history stands before it.
// Source: Page's cumulative sum test; each call weighs the log of how much likelier it is at the outage rate.
#pragma once

#include "breaker/report.hpp"

#include <algorithm>
#include <cmath>

namespace switchgear::breaker {

/// Evidence rises with each failure, falls with each success, never below zero.
class sequential {
 public:
  /// `limit`: error rate that is still good; `outage`: the rate to find; `threshold`: evidence that trips, 0 = never.
  sequential(double limit, double outage, double threshold) : threshold_(threshold) {
    // At a rate of exactly 1 one success would weigh infinitely much.
    const double most = std::min(outage, 0.999), least = std::min(limit, 0.998);
    failure_ = std::log(most / least);
    success_ = std::log((1 - least) / (1 - most));
  }

  /// True when the evidence suffices. Of a batch only the failures after its last success have a known place; the rest
  /// is taken as evenly mixed. To sort it, successes first, would let every large batch of a healthy tool end on its
  /// failures and trip.
  bool add(const batch& more) {
    const auto trailing = static_cast<double>(more.trailing);
    const double mixed = static_cast<double>(more.counts.failures) - trailing;
    const auto successes = static_cast<double>(more.counts.calls - more.counts.failures);
    evidence_ = std::max(0.0, evidence_ + mixed * failure_ - successes * success_) + trailing * failure_;
    if (threshold_ <= 0) return false;
    evidence_ = std::min(evidence_, threshold_);
    return evidence_ >= threshold_;
  }

  void clear() { evidence_ = 0; }
  double evidence() const { return threshold_ > 0 ? evidence_ : 0; }

 private:
  double threshold_;
  double failure_;
  double success_;
  double evidence_ = 0;
};

}  // namespace switchgear::breaker
