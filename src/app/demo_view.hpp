// What a watcher of the demonstration should see now: gathered from the calls and looks as they come in.
#pragma once

#include "app/demo_story.hpp"
#include "base/time.hpp"

#include <deque>
#include <map>
#include <string>
#include <vector>

namespace switchgear::app {

/// One column of the timeline: what happened in a second of the show.
struct demo_second {
  std::string state = "closed";  ///< the worst that was seen
  std::map<std::string, unsigned> answered_by;
  unsigned bad = 0;  ///< unanswered, or answered with isError
};

/// How the tool itself did of late, by the answers that clients got.
struct tool_figures {
  unsigned offered = 0;  ///< calls for it
  unsigned asked = 0;    ///< of those: passed on to it
  unsigned failed = 0;   ///< of asked: answered by somebody else, or not at all
  duration p99{};        ///< of asked, until the client had an answer
};

/// Collects what a watcher should see now.
class demo_view {
 public:
  void add(const seen_call& call);
  void add(const seen_state& look);

  duration at{};  ///< of the show
  const seen_state& look() const { return look_; }
  const seen_call& last() const { return last_; }
  const std::vector<demo_second>& timeline() const { return timeline_; }
  /// Over the last 3 s. The breaker's own window cannot be shown instead: a trip clears it.
  tool_figures tool() const;
  /// The last whole second, which the figures of a line are about.
  demo_second recent() const;

 private:
  struct ended_call {
    duration at;
    duration took;
    bool asked;
    bool failed;
  };

  demo_second& second_of(duration moment);

  seen_state look_;
  seen_call last_;
  std::vector<demo_second> timeline_;
  std::deque<ended_call> ended_;  // of the last 3 s
};

}  // namespace switchgear::app
