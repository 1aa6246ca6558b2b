#include "cascade/machine.hpp"

#include <algorithm>

namespace switchgear::cascade {

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
  // An upstream that throttles or denies has said that it did nothing.
  const bool untold = ended.how == ending::failed || ended.how == ending::timed_out || ended.how == ending::cancelled;
  outcome_unknown_ = outcome_unknown_ || (ended.acted && untold);
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
  const std::size_t count = std::min(plan_.steps.size(), plan::max_steps);
  for (; current_ < count; ++current_) {
    const step& candidate = plan_.steps[current_];
    ending skipped;
    if (tried_before(current_)) {
      skipped = ending::repeated;
    } else if (!std::holds_alternative<tool_step>(candidate)) {
      return {action::verb::try_step, current_};
    } else if (acted_) {
      skipped = ending::unsafe;
    } else if (deadline_ - now < minimum_left) {
      skipped = ending::no_time;
    } else {
      return {action::verb::try_step, current_};
    }
    note(name(candidate), skipped);
  }
  exhausted_ = true;
  return {action::verb::fail};
}

// Only tools have a target of their own: a cache step may come back with a greater age, a static one with other text.
bool machine::tried_before(std::size_t step) const {
  const auto* tool = std::get_if<tool_step>(&plan_.steps[step]);
  if (tool == nullptr) return false;
  if (tool->name == primary_) return true;
  return std::any_of(plan_.steps.begin(), plan_.steps.begin() + static_cast<std::ptrdiff_t>(step),
                     [&](const cascade::step& earlier) {
                       const auto* other = std::get_if<tool_step>(&earlier);
                       return other != nullptr && other->name == tool->name;
                     });
}

void machine::note(std::string_view what, ending how, unsigned tries) {
  if (trail_.size < trail_.entries.size()) trail_.entries[trail_.size++] = {what, how, tries};
}

}  // namespace switchgear::cascade
