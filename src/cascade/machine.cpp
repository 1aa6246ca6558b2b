#include "cascade/machine.hpp"

#include <algorithm>

namespace switchgear::cascade {
namespace {

// An upstream that answers or denies has said what it did. One that throttles may be a proxy before a tool that did it
// all the same; and what is said of the last try does not undo what an earlier one may have done.
bool leaves_doubt(ending how) {
  switch (how) {
    case ending::refused:
    case ending::unreachable:
    case ending::throttled:
    case ending::failed:
    case ending::timed_out:
    case ending::cancelled:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string_view name(ending how) {
  constexpr std::string_view names[] = {"answered",    "refused",   "unreachable", "throttled", "failed", "timeout",
                                        "denied",      "cancelled", "hit",         "miss",      "unfit",  "unmapped",
                                        "no_argument", "no_time",   "unsafe",      "repeated"};
  static_assert(std::size(names) == static_cast<unsigned>(ending::repeated) + 1);
  return names[static_cast<unsigned>(how)];
}

action machine::on(const event& ended, time_point now) {
  using verb = action::verb;
  acted_ = acted_ || ended.acted;
  outcome_unknown_ = outcome_unknown_ || (ended.acted && leaves_doubt(ended.how));
  if (!primary_done_) {
    primary_done_ = true;
    note("primary", ended.how, ended.tries);
    if (ended.how == ending::answered) return {verb::pass_on};
    reason_ = ended.reason;
    if (ended.how == ending::cancelled) return {verb::fail};
    // Without steps the caller gets what a direct call would have brought.
    const bool final = ended.how == ending::denied || plan_.steps.empty() || ended.in_dialogue;
    if (final) return {ended.presentable ? verb::pass_on : verb::fail};
    return next_step(now);
  }
  note(name(plan_.steps[current_]), ended.how, ended.tries);
  if (ended.how == ending::hit) return {verb::stand_in, current_};
  if (ended.how == ending::cancelled) return {verb::fail};
  ++current_;
  return next_step(now);
}

action machine::next_step(time_point now) {
  for (; current_ < step_count(); ++current_) {
    const step& candidate = plan_.steps[current_];
    const duration needed = minimum_time(candidate);
    ending skipped;
    if (tried_before(current_)) {
      skipped = ending::repeated;
    } else if (acted_ && may_act(candidate)) {
      skipped = ending::unsafe;
    } else if (needed > duration::zero() && deadline_ - now < needed) {
      skipped = ending::no_time;
    } else {
      return {action::verb::try_step, current_};
    }
    note(name(candidate), skipped);
  }
  exhausted_ = true;
  return {action::verb::fail};
}

std::size_t machine::step_count() const {
  return std::min(plan_.steps.size(), plan::max_steps);
}

bool machine::tried_before(std::size_t step) const {
  const cascade::step& candidate = plan_.steps[step];
  const auto* tool = std::get_if<tool_step>(&candidate);
  if (tool != nullptr && tool->name == primary_) return true;
  return std::any_of(plan_.steps.begin(), plan_.steps.begin() + static_cast<std::ptrdiff_t>(step),
                     [&](const cascade::step& earlier) { return same_target(earlier, candidate); });
}

time_point machine::primary_deadline(time_point arrived, bool repeatable) const {
  return deadline_before(0, arrived, repeatable);
}

time_point machine::step_deadline(std::size_t step, time_point now, bool repeatable) const {
  return deadline_before(step + 1, now, repeatable && !acted_);
}

time_point machine::deadline_before(std::size_t step, time_point begin, bool may_act_later) const {
  duration needed{};
  for (; step < step_count(); ++step) {
    const cascade::step& later = plan_.steps[step];
    if (!tried_before(step) && (may_act_later || !may_act(later))) needed += time_kept_for(later);
  }
  if (needed == duration::zero()) return deadline_;
  needed += timers_may_be_late + needed / 4;
  // Who wants most of the time for what stands behind gets the order of the steps for it, not the time.
  return needed < (deadline_ - begin) / 2 ? deadline_ - needed : deadline_;
}

void machine::note(std::string_view what, ending how, unsigned tries) {
  if (trail_.size < trail_.entries.size()) trail_.entries[trail_.size++] = {what, how, tries};
}

}  // namespace switchgear::cascade
