#include "async/interrupt.hpp"

#include <utility>

namespace switchgear::async {

void interrupt::arm(time_point deadline, time_point slow_after, void (*on_slow)(void*), void* slow_context) {
  deadline_ = deadline;
  const bool has_slow = on_slow != nullptr && slow_after < deadline;
  on_slow_ = has_slow ? on_slow : nullptr;
  slow_context_ = slow_context;
  wheel_.arm(*this, has_slow ? slow_after : deadline);
}

void interrupt::raise(reason why) {
  if (raised()) return;
  why_ = why;
  disarm();
  if (stop_ != nullptr) stop_(stop_context_);
}

void interrupt::fire() {
  if (on_slow_ != nullptr) {
    auto on_slow = std::exchange(on_slow_, nullptr);
    wheel_.arm(*this, deadline_);
    on_slow(slow_context_);
    return;
  }
  raise(reason::deadline);
}

}  // namespace switchgear::async
