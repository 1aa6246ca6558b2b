#include "peers/recent_latency.hpp"

namespace switchgear::peers {

void recent_latency::observe(const breaker::latency_counts& counters, duration window, time_point now) {
  // After a pause of several parts the same counters fill them all: nothing was counted in between.
  for (unsigned turn = 0; turn < parts && due_ <= now; ++turn) {
    past_[next_] = now_;
    next_ = (next_ + 1) % parts;
    due_ = turn + 1 == parts ? now + window / parts : due_ + window / parts;
  }
  now_ = counters;
}

duration recent_latency::p99() const {
  breaker::latency_counts recent;
  for (unsigned i = 0; i < breaker::latency_buckets; ++i) recent[i] = now_[i] - past_[next_][i];
  return breaker::latency_quantile(recent, 0.99);
}

}  // namespace switchgear::peers
