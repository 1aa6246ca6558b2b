// What may stand in for a tool that does not answer, in order. Plain values, filled by config.
#pragma once

#include "base/time.hpp"
#include "breaker/settings.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace switchgear::cascade {

/// Whose answers a cache step gives.
enum class share : std::uint8_t {
  principal,  ///< those that the caller got
  all,        ///< those that anybody got: by the operator's word the tool answers every caller alike
};
inline constexpr unsigned share_count = 2;

/// The last good answer to the same arguments, if it is not older than `max_age` (> 0).
struct cache_step {
  duration max_age = std::chrono::minutes(10);
  duration fresh_for{};  ///< while it is no older than this, it is given without a call of the tool; 0: never
  cascade::share share = cascade::share::principal;
  duration look{};  ///< what is kept of the deadline for asking other replicas; not configured; 0: they are not asked
};

/// What of another's answer becomes the stand-in: templates over that answer (cascade/template.hpp). Both empty: the
/// answer as it is.
struct result_mapping {
  std::string text;        ///< of the one text block; empty: the structured content as text
  std::string structured;  ///< of `structuredContent`, a JSON object; empty: none

  bool empty() const { return text.empty() && structured.empty(); }
};

/// Another tool of this gateway. It is called directly, behind its own breaker but without its own cascade, so a cycle
/// cannot come up.
struct tool_step {
  std::string name;       ///< exported name
  std::string arguments;  ///< template, a JSON object (cascade/template.hpp); empty: the caller's own arguments
  result_mapping result;  ///< of its result
  duration minimum_time = std::chrono::milliseconds(20);  ///< less cannot bring a call there and back; > 0
};

/// A plain REST endpoint, behind a breaker of its own.
struct http_step {
  enum class verb : std::uint8_t { get, post, put };

  verb method = verb::get;
  std::string url;                                           ///< template (cascade/url_template.hpp)
  std::vector<std::pair<std::string, std::string>> headers;  ///< sent as they stand
  std::string body;        ///< template, a JSON object; empty: the caller's own arguments; not sent with get
  result_mapping result;   ///< of its answer, which is JSON then; empty: JSON or text as it is
  bool read_only = false;  ///< the operator's word that it only reads, whatever the method
  duration minimum_time = std::chrono::milliseconds(20);  ///< as of a tool step
  breaker::settings breaker;

  bool sends_body() const { return method != verb::get; }
  bool reads() const { return method == verb::get || read_only; }
};

/// A language model, told of the tool and its arguments. `config` makes none as long as there is no model to ask.
struct model_step {
  duration minimum_time = std::chrono::milliseconds(20);  ///< as of a tool step
};

/// As it stands in a request.
std::string_view name(http_step::verb method);

/// What an answer of ours says. `structured` is a JSON object or empty.
struct plain_answer {
  std::string text;
  std::string structured;
};

/// A fixed answer. `structured` is a JSON object or empty; a tool with an outputSchema needs one that fits it.
struct fixed_step {
  std::string text;
  std::string structured;
};

using step = std::variant<cache_step, tool_step, http_step, model_step, fixed_step>;

/// The word of a step in traces and markers.
std::string_view name(const step& which);

/// How much of the deadline must be left for the step to be begun; zero: it takes none.
duration minimum_time(const step& which);

/// How much of the deadline is kept back for the step by what comes before it: its minimum_time, or what asking other
/// replicas may take.
duration time_kept_for(const step& which);

/// It may take effect somewhere, so it must not follow a call that may have taken effect already.
bool may_act(const step& which);

/// Both would ask the same thing of the same target. Only of steps that have a target of their own: a cache step may
/// come back with a greater age, a static one with other text.
bool same_target(const step& one, const step& other);

struct plan {
  static constexpr std::size_t max_steps = 8;  ///< more are refused by config, and not looked at by the machine

  std::vector<step> steps;

  bool uses_cache() const;
  /// Some answers are given without a call.
  bool gives_fresh() const;
  /// For how long an answer of that kind may be of use: the longest max_age. 0: no step gives such.
  duration longest_age(share whose) const;
};

}  // namespace switchgear::cascade
