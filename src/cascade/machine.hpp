// The cascade of one call as a machine: say how the last action ended, get the next one.
//
//   primary answered ---------------------------------------------------> pass_on
//   primary refused, unreachable, throttled, failed, timed out
//                              --> step --> step ... one has an answer --> stand_in
//                                                    none has ----------> fail, or pass_on an error it brought
//   denied, cancelled --------------------------------------------------> the same, without a step
#pragma once

#include "base/time.hpp"
#include "cascade/plan.hpp"
#include "cascade/terms.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace switchgear::cascade {

/// How an action ended.
enum class ending : std::uint8_t {
  // of the primary or of a tool step
  answered,     ///< it brought an answer that is its own to give: a result, isError, an error that blames the caller
  refused,      ///< its breaker kept the call back; nothing was sent
  unreachable,  ///< it could not be reached; nothing was sent
  throttled,    ///< it answered that it will not serve now
  failed,       ///< it answered with a fault, or its answer was lost
  timed_out,    ///< nothing came in time
  denied,       ///< it rejected the credential: nothing may stand in for a caller who may not
  cancelled,    ///< the client or we ourselves gave the call up
  // of a step
  hit,          ///< the step has an answer
  miss,         ///< it has none
  unfit,        ///< it has one that would break the tool's outputSchema
  unmapped,     ///< it has one that lacks what was to be taken of it
  no_argument,  ///< not started: the call lacks an argument that it needs
  no_time,      ///< not started: too little of the deadline is left
  unsafe,       ///< not started: the call may already have taken effect
  repeated,     ///< not started: the same target was tried before
};

std::string_view name(ending how);

struct event {
  ending how = ending::failed;
  /// Why, when the primary did not answer. Kept from the primary, ignored of a step.
  cascade::reason reason = cascade::reason::none;
  /// The request may have reached an upstream whose tool is neither read-only nor idempotent.
  bool acted = false;
  /// The primary brought a JSON-RPC error, to be passed on when there is no step at all.
  bool presentable = false;
  /// The client has been asked something on the way, or answers what it was asked before: a dialogue with one server,
  /// which nothing else may end (MCP 2026-07-28 basic/patterns/mrtr).
  bool in_dialogue = false;
  unsigned tries = 1;  ///< how often the target was tried
};

struct action {
  enum class verb : std::uint8_t {
    call_primary,
    try_step,  ///< `step` of the plan
    stand_in,  ///< done: give the answer that `step` found
    pass_on,   ///< done: give the primary's own answer
    fail,      ///< done: give an error of our own
  };
  verb what = verb::call_primary;
  std::size_t step = 0;
};

/// What was tried and how it ended: the primary first, then the steps of the plan in its order, each once.
struct trail {
  struct entry {
    std::string_view what;  ///< "primary" or the step's name; a literal
    ending how;
    unsigned tries = 1;
  };
  std::array<entry, plan::max_steps + 1> entries{};
  std::size_t size = 0;

  const entry* begin() const { return entries.data(); }
  const entry* end() const { return entries.data() + size; }
};

/// One per call; allocates nothing; has no clock. `steps` and `primary` must outlive it.
///
/// What it holds to: every target is tried at most once; no step that may take effect after a call that may have
/// (event::acted), since it could happen twice; no step with less than its minimum_time before the deadline; what the
/// primary says itself, isError included, and a rejected credential are never replaced.
class machine {
 public:
  /// Less than this cannot bring a try of the primary to its upstream and back.
  static constexpr duration minimum_left = std::chrono::milliseconds(20);

  /// How late a timer may end what is given up for the steps behind it, on a busy machine; a quarter of what they need
  /// is kept back besides.
  static constexpr duration timers_may_be_late = std::chrono::milliseconds(20);

  /// `primary` is the exported name of the called tool.
  machine(const plan& steps, std::string_view primary, time_point deadline)
      : plan_(steps), primary_(primary), deadline_(deadline) {}

  /// The first action.
  action begin() const { return {}; }
  /// The next one. After stand_in, pass_on or fail there is none: not to be called again.
  action on(const event& ended, time_point now);

  /// When the primary must be given up so that the steps behind it get their minimum_time, a late timer allowed for;
  /// the deadline itself when none needs time, or when they need half of all time or more. `arrived`: when the call's
  /// time began. `repeatable`: the primary is read-only or idempotent, so that steps that may take effect can follow it
  /// whatever became of it.
  time_point primary_deadline(time_point arrived, bool repeatable) const;
  /// The same for step `step`, which begins now.
  time_point step_deadline(std::size_t step, time_point now, bool repeatable) const;

  const trail& steps() const { return trail_; }
  /// Why the primary did not answer; none when it did.
  cascade::reason primary_reason() const { return reason_; }
  /// The same, or `exhausted` when the call failed though there were steps.
  cascade::reason reason() const { return exhausted_ ? cascade::reason::exhausted : reason_; }
  /// Some upstream may have carried out the call, and it is not known whether it did.
  bool outcome_unknown() const { return outcome_unknown_; }

 private:
  action next_step(time_point now);
  std::size_t step_count() const;
  bool tried_before(std::size_t step) const;
  time_point deadline_before(std::size_t step, time_point begin, bool may_act_later) const;
  void note(std::string_view what, ending how, unsigned tries = 1);

  const plan& plan_;
  std::string_view primary_;
  time_point deadline_;
  trail trail_;
  std::size_t current_ = 0;  // the step in hand once the primary is done
  bool primary_done_ = false;
  bool acted_ = false;
  bool outcome_unknown_ = false;
  bool exhausted_ = false;
  cascade::reason reason_ = cascade::reason::none;
};

}  // namespace switchgear::cascade
