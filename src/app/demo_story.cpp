#include "app/demo_story.hpp"

#include <algorithm>

namespace switchgear::app {

namespace {

using std::chrono::seconds;

std::string in_phase(const phase& act, std::string_view what) {
  std::string text = "phase \"";
  text += act.title;
  text += "\": ";
  text += what;
  return text;
}

void judge(const phase& act, const phase_result& seen, bool after_sick, std::vector<std::string>& out) {
  if (seen.calls == 0) out.push_back(in_phase(act, "no call was made"));
  if (seen.unanswered > 0) {
    out.push_back(in_phase(act, std::to_string(seen.unanswered) + " calls were not answered within the deadline"));
  }
  if (seen.errors > 0) {
    out.push_back(in_phase(act, std::to_string(seen.errors) + " calls got an error instead of a stand-in answer"));
  }
  if (act.sick() && !seen.tripped) out.push_back(in_phase(act, "the breaker did not open"));
  if (after_sick && !seen.recovered) out.push_back(in_phase(act, "the breaker did not close again"));
}

}  // namespace

const std::vector<phase>& demo_phases() {
  static const std::vector<phase> phases = {
      {"well", "the weather tool answers", behaviour::well, behaviour::well, seconds(6)},
      {"errors", "the weather tool answers HTTP 500", behaviour::errors, behaviour::well, seconds(9)},
      {"well again", "the weather tool is repaired", behaviour::well, behaviour::well, seconds(9)},
      {"hang", "the weather tool takes calls and never answers; the backup fails too", behaviour::hang,
       behaviour::errors, seconds(9)},
      {"well again", "both are repaired", behaviour::well, behaviour::well, seconds(9)},
      {"slow", "the weather tool answers rightly, but takes 700 ms", behaviour::slow, behaviour::well, seconds(9)},
      {"well again", "the weather tool is fast again", behaviour::well, behaviour::well, seconds(9)},
  };
  return phases;
}

duration demo_length() {
  duration sum{};
  for (const phase& each : demo_phases()) sum += each.length;
  return sum;
}

std::size_t phase_at(duration since_start) {
  const std::vector<phase>& phases = demo_phases();
  duration end{};
  for (std::size_t i = 0; i < phases.size(); ++i) {
    end += phases[i].length;
    if (since_start < end) return i;
  }
  return phases.size() - 1;
}

duration phase_start(std::size_t index) {
  duration start{};
  for (std::size_t i = 0; i < index; ++i) start += demo_phases()[i].length;
  return start;
}

int severity(std::string_view state) {
  return state == "open" ? 2 : state == "half_open" ? 1 : 0;
}

void demo_story::add(const seen_call& call) {
  phase_result& seen = results_[phase_at(call.sent)];
  ++seen.calls;
  if (!call.answered || call.took > demo_patience) {
    ++seen.unanswered;
    return;
  }
  if (call.is_error) ++seen.errors;
  ++seen.answered_by[call.served_by];
  seen.slowest = std::max(seen.slowest, call.took);
}

void demo_story::add(const seen_state& look) {
  const std::size_t now = phase_at(look.at);
  phase_result& seen = results_[now];
  const duration into = look.at - phase_start(now);
  if (demo_phases()[now].sick()) {
    if (look.state == "open" && !seen.tripped) seen.tripped = into;
  } else if (look.state != "closed") {
    seen.recovered.reset();  // closed for a moment only
  } else if (!seen.recovered) {
    seen.recovered = into;
  }
}

std::vector<std::string> demo_story::complaints() const {
  std::vector<std::string> found;
  const std::vector<phase>& phases = demo_phases();
  for (std::size_t i = 0; i < phases.size(); ++i) {
    judge(phases[i], results_[i], i > 0 && phases[i - 1].sick(), found);
  }
  return found;
}

}  // namespace switchgear::app
