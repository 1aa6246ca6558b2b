#include "app/demo_view.hpp"

#include <algorithm>
#include <chrono>

namespace switchgear::app {

void demo_view::add(const seen_call& call) {
  at = std::max(at, call.sent + call.took);
  demo_second& in = second_of(call.sent + call.took);
  if (!call.answered || call.is_error) {
    ++in.bad;
  } else {
    ++in.answered_by[call.served_by];
  }
  last_ = call;
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

demo_second demo_view::recent() const {
  if (timeline_.empty()) return {};
  return timeline_.size() == 1 ? timeline_[0] : timeline_[timeline_.size() - 2];
}

}  // namespace switchgear::app
