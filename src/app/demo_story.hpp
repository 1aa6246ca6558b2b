// The story of the demonstration as plain values: which phase when, what was seen in it, and whether that was right.
#pragma once

#include "base/time.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::app {

/// How a tool server treats tools/call.
enum class behaviour : std::uint8_t {
  well,    ///< a right answer in some 10 ms
  errors,  ///< HTTP 500 at once
  hang,    ///< takes the request and never answers
  slow,    ///< a right answer, but after demo_slow_answer
};

inline constexpr duration demo_slow_answer = std::chrono::milliseconds(700);

/// One act of the show. Times are lengths.
struct phase {
  std::string_view title;
  std::string_view told;  ///< one sentence for the watcher
  behaviour weather = behaviour::well;
  behaviour backup = behaviour::well;
  duration length{};
  bool sick() const { return weather != behaviour::well; }
};

/// The whole show, about a minute. Starts and ends well, and is well between two faults.
const std::vector<phase>& demo_phases();
duration demo_length();

/// The phase at a moment of the show, as an index into demo_phases(); the last one for all later moments.
std::size_t phase_at(duration since_start);

/// When the phase of that index begins, since the start of the show.
duration phase_start(std::size_t index);

/// An answer, or the lack of one, as the demonstration's client saw it.
struct seen_call {
  duration sent{};  ///< since the start of the show
  duration took{};
  bool answered = false;  ///< a well-formed response came in time
  bool is_error = false;
  std::string served_by;  ///< "primary" without a marker
  bool refused = false;   ///< the breaker kept the call from the tool
  std::string text;       ///< the first text block
};

/// How the breakers of the weather tool and of its server stood, at one look.
struct seen_state {
  duration at{};                 ///< since the start of the show
  std::string state = "closed";  ///< the worse of the two: open, half_open, closed
  std::string scope;             ///< whose it is
  duration since{};              ///< how long it has been so
  duration retry_after{};        ///< open: until the next probe
  std::string reason;            ///< of the last transition: error_rate, outage, p99, ...
  double error_limit = 0;        ///< a share
  duration p99_limit{};
};

/// Orders states by how bad they are: closed 0, half_open 1, open 2.
int severity(std::string_view state);

/// What came of one phase. Calls belong to the phase in which they were sent.
struct phase_result {
  std::uint64_t calls = 0;
  std::map<std::string, std::uint64_t> answered_by;
  std::uint64_t errors = 0;         ///< answered with isError
  std::uint64_t unanswered = 0;     ///< no well-formed answer within the deadline
  duration slowest{};               ///< of the answered ones
  std::optional<duration> tripped;  ///< from the start of a sick phase to the first look that found it open
  std::optional<duration>
      recovered;  ///< from the start of a well phase to the first look that found it closed for good
};

/// Adds up what was seen. Not thread-safe.
class demo_story {
 public:
  void add(const seen_call& call);
  /// Looks must come in the order of time.
  void add(const seen_state& look);

  const std::vector<phase_result>& phases() const { return results_; }

  /// What did not go as it should, one sentence each; empty when all went well: every call was answered in time and
  /// with something useful, each sick phase tripped the breaker, and it was closed again in each well phase and at the
  /// end.
  std::vector<std::string> complaints() const;

 private:
  std::vector<phase_result> results_ = std::vector<phase_result>(demo_phases().size());
};

/// How long after its sending a call may be answered: the tool's deadline in the demonstration, and what the client on
/// the same busy machine may add.
inline constexpr duration demo_deadline = std::chrono::milliseconds(1000);
inline constexpr duration demo_patience = demo_deadline + std::chrono::milliseconds(300);

}  // namespace switchgear::app
