#include "config/tool_keys.hpp"

#include "config/breaker_keys.hpp"
#include "config/concurrency_keys.hpp"
#include "config/fallback.hpp"
#include "config/kinds.hpp"
#include "route/names.hpp"

#include <algorithm>
#include <tuple>

namespace switchgear::config {
namespace {

using namespace std::chrono_literals;

bool is_pattern(std::string_view text) {
  if (text.ends_with('*')) text.remove_suffix(1);
  return text.empty() || route::is_exportable(text);
}

/// From the least to the most specific: patterns with `*` before exact names, short ones before long ones. The text
/// decides between equals, so that the order of the file never matters.
bool less_specific(const tool_rule& left, const tool_rule& right) {
  const auto rank = [](const tool_rule& rule) {
    return std::tuple(!rule.pattern.ends_with('*'), rule.pattern.size(), std::string_view(rule.pattern));
  };
  return rank(left) < rank(right);
}

change<gateway> read_rules(const field& from) {
  const auto members = from.members();
  if (!members) return {};
  std::vector<tool_rule> rules;
  for (const field::member& member : *members) {
    if (member.name.empty() || !is_pattern(member.name)) {
      member.fail(
          "is not a tool pattern; write an exported name, as in search__query, or its beginning and *, as in "
          "search__*");
    }
    rules.push_back({member.name, read_section(member.value, tool_keys())});
  }
  std::sort(rules.begin(), rules.end(), less_specific);
  return [rules = std::move(rules)](gateway& to) { to.tools = rules; };
}

/// Every rule as what it comes to, and `*` for the tools that no rule names.
std::optional<shown> show_rules(const gateway& from) {
  shown all{"tools", {}, {}};
  const bool has_default = !from.tools.empty() && from.tools.front().pattern == "*";
  if (!has_default) all.members.push_back({quote("*"), {}, show_section(from.policy_for("*"), tool_keys())});
  for (const tool_rule& rule : from.tools) {
    all.members.push_back({quote(rule.pattern), {}, show_section(from.policy_for(rule.pattern), tool_keys())});
  }
  return all;
}

}  // namespace

const keys<port::timeouts>& timeout_keys() {
  using target = port::timeouts;
  static const keys<target> table{
      value_key<target>(
          "first_byte", a_duration(1ms, 1h, zero::off), [](auto& to) -> auto& { return to.first_byte; },
          "Until anything comes back: the head of an answer, progress. A server that answers with plain JSON shows its "
          "head when it is done."),
      value_key<target>(
          "idle", a_duration(1ms, 1h, zero::off), [](auto& to) -> auto& { return to.idle; },
          "Between later signs of life: pieces of the answer, and progress. Comments in an event stream are none."),
      value_key<target>(
          "total", a_duration(1ms, 1h, zero::off), [](auto& to) -> auto& { return to.total; },
          "Of the whole try, whatever comes. With `retry`, so that the deadline has room for another one."),
      value_key<target>(
          "progress_extends", a_flag(), [](auto& to) -> auto& { return to.progress_extends; },
          "Progress is a sign of life. The server reports it only to clients that ask for it."),
  };
  return table;
}

const keys<cascade::retry_policy>& retry_keys() {
  using target = cascade::retry_policy;
  static const keys<target> table{
      value_key<target>(
          "attempts", a_count(1, target::most_attempts), [](auto& to) -> auto& { return to.attempts; },
          "Most tries of the tool in one call, the first included. A try that may have arrived is made again only if "
          "the tool reads or is idempotent; HTTP 429 says that it did nothing."),
      value_key<target>(
          "backoff", a_duration(1ms, 1min), [](auto& to) -> auto& { return to.backoff; },
          "The pause before the second try is a random part of this, before the third of twice as much, and so on. "
          "Retry-After, 5min of it at most, comes before that."),
      value_key<target>(
          "longest_pause", a_duration(1ms, 1min), [](auto& to) -> auto& { return to.longest_pause; },
          "At which the doubling ends. Must not be below `backoff`."),
  };
  return table;
}

const keys<cascade::hedge_policy>& hedge_keys() {
  using target = cascade::hedge_policy;
  static const keys<target> table{
      value_key<target>(
          "quantile", a_share(0.5, 0.999, zero::off), [](auto& to) -> auto& { return to.quantile; },
          "The second try begins when the first has taken longer than this share of the last good answers. `0%`: none "
          "begins."),
      value_key<target>(
          "least", a_duration(8ms, 1min), [](auto& to) -> auto& { return to.least; },
          "It does not begin sooner than this."),
  };
  return table;
}

const keys<cascade::loop_policy>& loop_keys() {
  using target = cascade::loop_policy;
  static const keys<target> table{
      value_key<target>(
          "failures", a_count(0, target::most_failures), [](auto& to) -> auto& { return to.failures; },
          "When a call has failed so often with the same arguments in one session, the next one is not made: the "
          "answer "
          "tells the agent to do something else. 0 switches it off."),
      value_key<target>(
          "window", a_duration(1s, 1h), [](auto& to) -> auto& { return to.window; },
          "In which these failures have to lie."),
  };
  return table;
}

const keys<port::tool_policy>& tool_keys() {
  using target = port::tool_policy;
  static const keys<target> table{
      value_key<target>(
          "deadline", a_duration(10ms, 1h), [](auto& to) -> auto& { return to.deadline; },
          "From the arrival of a call to its answer: handshakes, retries and every step of the cascade included. A "
          "caller "
          "may shorten it."),
      value_key<target>(
          "patience", a_duration(100ms, 1h), [](auto& to) -> auto& { return to.patience; },
          "How long a client may take to answer a question that the server asks on the way (sampling, elicitation, "
          "roots). The deadline's clock stands still meanwhile."),
      value_key<target>(
          "read_only", maybe(a_flag()), [](auto& to) -> auto& { return to.read_only; },
          "Whether the tool only reads. Not set: the server's own hint decides. A tool that writes is never "
          "called a second time when the first call may have arrived, and its answers are not kept."),
      section_key<target>(
          "breaker", breaker_keys(), [](auto& to) -> auto& { return to.breaker; },
          "The tool's breaker; what is not set here is taken from the top-level `breaker`."),
      section_key<target>(
          "timeout", timeout_keys(), [](auto& to) -> auto& { return to.timeout; },
          "How long one try of the tool may take, in phases, within the deadline. `connect_timeout` of its server "
          "comes "
          "besides."),
      section_key<target>(
          "retry", retry_keys(), [](auto& to) -> auto& { return to.retry; },
          "Whether a failed try of the tool is made again within the deadline, as far as its server's `retry_budget` "
          "goes."),
      section_key<target>(
          "hedge", hedge_keys(), [](auto& to) -> auto& { return to.hedge; },
          "A second try beside one that takes longer than usual; the first answer counts. Only of a tool that reads, "
          "and "
          "as far as its server's `retry_budget` goes."),
      value_key<target>(
          "idempotency_key", a_text(), [](auto& to) -> auto& { return to.idempotency_key; },
          "The argument by which the tool knows a repeated call. A call without it gets one, and a try that may have "
          "arrived is made again. Not set: what the tool says in `_meta[\"dev.switchgear/idempotency_key\"]`."),
      section_key<target>(
          "loop", loop_keys(), [](auto& to) -> auto& { return to.loop; },
          "Whether an agent that makes the same failing call again and again is stopped."),
      concurrency_key<target>([](auto& to) -> auto& { return to.concurrency; },
                              "How many calls of the tool may be under way at once; more are refused, or wait a "
                              "moment. A number, `adaptive`, or a mapping."),
      value_key<target>(
          "error_text", some_texts(), [](auto& to) -> auto& { return to.error_text; },
          "A result with `isError` whose text holds one of these counts as a failure of the tool."),
      value_key<target>(
          "note", a_flag(), [](auto& to) -> auto& { return to.note; },
          "An answer that is not the tool's own carries a short text block that says so."),
      fallback_key(),
  };
  return table;
}

key<gateway> tools_key() {
  key<gateway> made{
      "tools",
      "mapping",
      "",
      "What holds for single tools, by exported name; `search__*` matches every name that begins so. A longer "
      "pattern changes what a shorter one says, an exact name what any pattern says.",
      {},
      {}};
  made.read = read_rules;
  made.show = show_rules;
  return made;
}

}  // namespace switchgear::config
