#include "async/timer_wheel.hpp"

#include <algorithm>

namespace switchgear::async {

timer_wheel::~timer_wheel() {
  for (slot& nodes : slots_) nodes.clear();
}

void timer_wheel::arm(timer_node& node, time_point due) {
  node.disarm();
  node.due_ = due;
  if (!running_) {
    done_ = tick_of(std::chrono::steady_clock::now());
    running_ = true;
    schedule();
  }
  // Rounded up, and never into a slot that this turn has already emptied.
  const std::int64_t wanted = std::max(tick_of(due) + 1, done_ + 1);
  slots_[static_cast<std::size_t>(wanted) % slots].push_back(node);
}

void timer_wheel::schedule() {
  timer_.expires_at(std::chrono::steady_clock::time_point(tick * (done_ + 1)));
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    turn(std::chrono::steady_clock::now());
    if (empty()) {
      running_ = false;
    } else {
      schedule();
    }
  });
}

void timer_wheel::turn(time_point now) {
  const std::int64_t current = tick_of(now);
  // After a long stall one whole turn visits every slot; more would only repeat it.
  const std::int64_t first = std::max(done_ + 1, current - static_cast<std::int64_t>(slots) + 1);
  slot due;
  for (std::int64_t visit = first; visit <= current; ++visit) {
    slot& nodes = slots_[static_cast<std::size_t>(visit) % slots];
    for (auto it = nodes.begin(); it != nodes.end();) {
      timer_node& node = *it++;
      if (node.due_ > now) continue;
      node.disarm();
      due.push_back(node);
    }
  }
  done_ = std::max(done_, current);
  // What fires may arm, disarm or destroy any node, the ones still in `due` included: they unlink themselves.
  while (!due.empty()) {
    timer_node& node = due.front();
    due.pop_front();
    node.fire();
  }
}

bool timer_wheel::empty() const {
  return std::ranges::all_of(slots_, [](const slot& nodes) { return nodes.empty(); });
}

}  // namespace switchgear::async
