#include "async/interrupt.hpp"

#include <algorithm>
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
  const time_point end = std::min(deadline_, end_of_silence());
  wheel_.arm(*this, on_slow_ != nullptr ? std::min(slow_after_, end) : end);
}

void interrupt::limit_silence(const silence& longest, time_point now) {
  limits_silence_ = longest.first > duration::zero() || longest.later > duration::zero();
  longest_silence_ = longest;
  last_sign_ = now;
  if (limits_silence_ && pauses_ == 0 && !raised()) arm_next();
}

// The node is not armed anew: it finds out when it fires, which is rarer than signs are.
void interrupt::note_sign(sign what) {
  if (what == sign::progress && has_heard_ && !longest_silence_.progress_counts) return;
  const bool is_first = !std::exchange(has_heard_, true);
  last_sign_ = pauses_ == 0 ? std::chrono::steady_clock::now() : paused_at_;
  if (is_first && pauses_ == 0 && !raised()) arm_next();
}

time_point interrupt::end_of_silence() const {
  if (!limits_silence_) return time_point::max();
  const duration longest = has_heard_ ? longest_silence_.later : longest_silence_.first;
  return longest > duration::zero() ? last_sign_ + longest : time_point::max();
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
  last_sign_ += stood;
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
  const time_point passed = due();
  if (on_slow_ != nullptr && slow_after_ <= passed) {
    auto on_slow = std::exchange(on_slow_, nullptr);
    arm_next();
    on_slow(slow_context_);
    return;
  }
  if (deadline_ <= passed) return raise(reason::deadline);
  if (end_of_silence() > passed) return arm_next();
  silent_ = true;
  raise(reason::deadline);
}

}  // namespace switchgear::async
