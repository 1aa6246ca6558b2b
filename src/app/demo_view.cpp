#include "app/demo_view.hpp"

#include <algorithm>
#include <chrono>

namespace switchgear::app {

namespace {

constexpr duration figures_span = std::chrono::seconds(3);

}  // namespace

void demo_view::add(const seen_call& call) {
  at = std::max(at, call.sent + call.took);
  demo_second& in = second_of(call.sent + call.took);
  if (!call.answered || call.is_error) {
    ++in.bad;
  } else {
    ++in.answered_by[call.served_by];
  }
  last_ = call;
  ended_.push_back({call.sent + call.took, call.took, !call.refused, call.served_by != "primary"});
  while (ended_.front().at < at - figures_span) ended_.pop_front();
}

void demo_view::add(const seen_state& look) {
  at = std::max(at, look.at);
  demo_second& in = second_of(look.at);
  if (severity(look.state) > severity(in.state)) in.state = look.state;
  look_ = look;
}

demo_second& demo_view::second_of(duration moment) {
  // Answers to the last calls may come a little after the show.
  const auto most = static_cast<std::size_t>(demo_length() / std::chrono::seconds(1)) + 3;
  const auto second = std::min<std::size_t>(
      static_cast<std::size_t>(std::max(moment, duration::zero()) / std::chrono::seconds(1)), most);
  if (timeline_.size() <= second) timeline_.resize(second + 1);
  return timeline_[second];
}

tool_figures demo_view::tool() const {
  tool_figures sum;
  std::vector<duration> lengths;
  for (const ended_call& each : ended_) {
    ++sum.offered;
    if (!each.asked) continue;
    ++sum.asked;
    if (each.failed) ++sum.failed;
    lengths.push_back(each.took);
  }
  if (lengths.empty()) return sum;
  const auto at_p99 = lengths.begin() + static_cast<std::ptrdiff_t>((lengths.size() - 1) * 99 / 100);
  std::nth_element(lengths.begin(), at_p99, lengths.end());
  sum.p99 = *at_p99;
  return sum;
}

demo_second demo_view::recent() const {
  if (timeline_.empty()) return {};
  return timeline_.size() == 1 ? timeline_[0] : timeline_[timeline_.size() - 2];
}

}  // namespace switchgear::app
