// A server with a fixed number of workers and a queue before them, an adaptive limit in front, and callers; all on
// virtual time.
#pragma once

#include "cascade/limit_gradient.hpp"
#include "sim/dice.hpp"

#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <vector>

namespace switchgear::sim {

/// How the server and its callers are. May change while the simulation runs.
struct surroundings {
  unsigned workers = 50;
  double service = 0.1;  // seconds, the mean
  double spread = 0;     // 0: always the mean; 1: exponential; between: a part of it
  double outliers = 0;   // share of calls that take twenty times as long
  double rate = 1000;    // calls a second that arrive at random
  double deadline = 30;  // seconds, of a call
};

class limited_server {
 public:
  surroundings now_is;

  limited_server(const surroundings& at_first, std::uint64_t seed) : now_is(at_first), dice_(seed) {}

  /// Runs for so many seconds; `watch` sees the server each hundredth of it.
  void run(double seconds, const std::function<void()>& watch = {}) {
    const double end = now_ + seconds;
    double next_look = now_ + seconds / 100;
    if (next_arrival_ < now_) next_arrival_ = now_ + gap();
    while (now_ < end) {
      const double due = ends_.empty() ? end : ends_.top().at;
      now_ = std::min({due, next_arrival_, next_look, end});
      if (now_ == next_look) {
        next_look += seconds / 100;
        if (watch) watch();
      } else if (now_ == due && !ends_.empty()) {
        finish();
      } else if (now_ == next_arrival_) {
        arrive();
        next_arrival_ = now_ + gap();
      }
    }
  }

  unsigned limit() const { return gradient_.limit(); }
  double base() const { return std::chrono::duration<double>(gradient_.base()).count(); }
  std::uint64_t answered() const { return answered_; }
  std::uint64_t refused() const { return refused_; }
  /// Mean length of the calls answered since the last time.
  double take_mean() {
    const double mean = lengths_ / static_cast<double>(std::max<std::uint64_t>(measured_, 1));
    lengths_ = 0;
    measured_ = 0;
    return mean;
  }

 private:
  struct job {
    double at;     // its end
    double begun;  // its arrival
    bool operator>(const job& other) const { return at > other.at; }
  };

  double gap() { return dice_.exponential(1 / now_is.rate); }

  double service_time() {
    double length = now_is.service * (1 - now_is.spread) + dice_.exponential(now_is.service) * now_is.spread;
    if (dice_.chance(now_is.outliers)) length *= 20;
    return length;
  }

  void arrive() {
    if (in_flight_ >= gradient_.limit()) {
      ++refused_;
      return;
    }
    ++in_flight_;
    waiting_.push_back(now_);
    serve();
  }

  void serve() {
    while (busy_ < now_is.workers && !waiting_.empty()) {
      ends_.push({now_ + service_time(), waiting_.front()});
      waiting_.pop_front();
      ++busy_;
    }
  }

  // A call that is over its deadline still keeps its worker busy; the caller is told when it ends, which is late
  // enough.
  void finish() {
    const double took = now_ - ends_.top().begun;
    ends_.pop();
    --busy_;
    unsigned ended = 0;
    if (took > now_is.deadline) {
      ended = tally_.timed_out(in_flight_);
    } else {
      ended = tally_.answered(duration(static_cast<std::int64_t>(took * 1e9)), in_flight_);
      ++answered_;
      ++measured_;
      lengths_ += took;
    }
    if (ended >= cascade::limit_gradient::window_size(gradient_.limit())) gradient_.update(tally_.take());
    --in_flight_;
    serve();
  }

  cascade::limit_gradient gradient_{4, 1000, 20};
  cascade::limit_tally tally_;
  dice dice_;
  std::priority_queue<job, std::vector<job>, std::greater<>> ends_;
  std::deque<double> waiting_;
  double now_ = 0, next_arrival_ = -1, lengths_ = 0;
  unsigned in_flight_ = 0, busy_ = 0;
  std::uint64_t answered_ = 0, refused_ = 0, measured_ = 0;
};

}  // namespace switchgear::sim
