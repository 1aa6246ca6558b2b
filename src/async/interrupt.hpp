// What may end a call early: its deadline, a silence that lasts too long, its client, our shutdown.
#pragma once

#include "async/timer_wheel.hpp"
#include "base/time.hpp"

#include <cstdint>

namespace switchgear::async {

/// One per call, on the call's own thread. Whatever the call waits for registers a way to stop waiting (`stop`), and
/// the first reason to interrupt uses it. Once interrupted it stays so: a later wait is refused at once.
class interrupt final : public timer_node {
 public:
  enum class reason : std::uint8_t { none, deadline, cancelled, shutdown };

  explicit interrupt(timer_wheel& wheel) : wheel_(wheel) {}

  /// Sets the call's deadline. `slow_after` is an earlier moment, or time_point::max(): when the call is still running
  /// then, on_slow is called once (a call counts as slow when it passes the limit, not when it ends).
  void arm(time_point deadline, time_point slow_after = time_point::max(), void (*on_slow)(void*) = nullptr,
           void* slow_context = nullptr);

  /// What is heard of whoever is waited for.
  enum class sign : std::uint8_t {
    answer,    ///< the head or a piece of the answer
    progress,  ///< word that the work goes on
  };
  /// How long nothing may be heard. Zero: any length.
  struct silence {
    duration first{};             ///< from now until the first sign
    duration later{};             ///< from each sign to the next
    bool progress_counts = true;  ///< as a later sign; as the first one it always does
  };

  /// From now on such a silence raises reason::deadline, as the deadline itself does. After arm().
  void limit_silence(const silence& longest, time_point now);
  /// A sign of life. Costs one branch where silence has no limit.
  void heard(sign what) {
    if (limits_silence_) note_sign(what);
  }
  /// A silence raised it, and no deadline.
  bool silent() const { return silent_; }
  /// There was a sign since limit_silence().
  bool has_heard() const { return has_heard_; }

  /// Stops the clock, for instance while a person is asked something; the deadline and the slow moment move by as much.
  /// The clock of its part (chain) stands still with it. Pauses may overlap; the clock runs again after the last
  /// resume(). Whoever pauses bounds the pause himself.
  void pause(time_point now);
  void resume(time_point now);
  /// How long the clock has stood still so far, without a pause that lasts.
  duration paused() const { return paused_; }

  /// Ends the present wait, and every later one, for `why`. The first reason stays.
  void raise(reason why);

  reason why() const { return why_; }
  bool raised() const { return why_ != reason::none; }
  time_point deadline() const { return pauses_ == 0 ? deadline_ : time_point::max(); }

  /// Says how to stop the wait that is about to begin; ends with the guard. One wait at a time: the inner guard rules
  /// until it ends.
  class guard {
   public:
    guard(interrupt& owner, void (*stop)(void*), void* context)
        : owner_(owner), outer_stop_(owner.stop_), outer_context_(owner.stop_context_) {
      owner.stop_ = stop;
      owner.stop_context_ = context;
    }
    ~guard() {
      owner_.stop_ = outer_stop_;
      owner_.stop_context_ = outer_context_;
    }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

   private:
    interrupt& owner_;
    void (*outer_stop_)(void*);
    void* outer_context_;
  };

 private:
  friend class chain;

  void fire() override;
  void arm_next();
  void note_sign(sign what);
  time_point end_of_silence() const;

  timer_wheel& wheel_;
  time_point deadline_ = time_point::max();
  time_point slow_after_ = time_point::max();
  silence longest_silence_;
  time_point last_sign_{};  // or the beginning
  time_point paused_at_{};
  duration paused_{};
  unsigned pauses_ = 0;
  interrupt* part_ = nullptr;  // set and taken back by chain
  void (*on_slow_)(void*) = nullptr;
  void* slow_context_ = nullptr;
  void (*stop_)(void*) = nullptr;
  void* stop_context_ = nullptr;
  reason why_ = reason::none;
  bool limits_silence_ = false, has_heard_ = false, silent_ = false;
};

}  // namespace switchgear::async
