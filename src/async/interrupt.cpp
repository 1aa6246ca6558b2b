#include "async/interrupt.hpp"

#include <utility>

namespace switchgear::async {

void interrupt::arm(time_point deadline, time_point slow_after, void (*on_slow)(void*), void* slow_context) {
  deadline_ = deadline;
  const bool has_slow = on_slow != nullptr && slow_after < deadline;
  on_slow_ = has_slow ? on_slow : nullptr;
  slow_context_ = slow_context;
  slow_after_ = slow_after;
  if (pauses_ == 0) arm_next();
}

void interrupt::arm_next() {
  wheel_.arm(*this, on_slow_ != nullptr ? slow_after_ : deadline_);
}

void interrupt::pause(time_point now) {
  if (part_ != nullptr) part_->pause(now);
  if (pauses_++ != 0) return;
  paused_at_ = now;
  disarm();
}

void interrupt::resume(time_point now) {
  if (part_ != nullptr) part_->resume(now);
  if (--pauses_ != 0) return;
  const duration stood = now - paused_at_;
  paused_ += stood;
  if (deadline_ == time_point::max()) return;
  deadline_ += stood;
  if (on_slow_ != nullptr) slow_after_ += stood;
  if (!raised()) arm_next();
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
    arm_next();
    on_slow(slow_context_);
    return;
  }
  raise(reason::deadline);
}

}  // namespace switchgear::async
