#include "config/tool_keys.hpp"

#include "config/breaker_keys.hpp"
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

/// Whether the member is there and its value was written for this rule alone.
bool sets(const field& rule, std::string_view section, std::string_view name) {
  const node* found = rule.at().find(section);
  return found != nullptr && found->find(name) != nullptr;
}

void check_times(const field& rule, const port::tool_policy& policy) {
  const duration slow = policy.breaker.p99;
  if (slow > duration::zero() && slow >= policy.deadline) {
    const std::string what = "the p99 limit of " + format_duration(slow) + " is not below the deadline of " +
                             format_duration(policy.deadline) + ", so that no call is ever slow";
    if (sets(rule, "breaker", "p99")) {
      rule.nearest("breaker").nearest("p99").fail(what + "; write a shorter one, or 0 to switch it off");
    } else {
      rule.nearest("deadline").warn(what);
    }
  }
  // The official SDKs give up after 60 seconds unless they are told otherwise.
  if (policy.deadline > 60s && rule.at().find("deadline") != nullptr) {
    rule.nearest("deadline")
        .warn("is longer than the 60s after which common clients give up; they would not see the answer");
  }
}

void check_retry(const field& rule, const cascade::retry_policy& retry) {
  if (rule.at().find("retry") == nullptr || retry.backoff <= retry.longest_pause) return;
  const char* blamed = sets(rule, "retry", "backoff") ? "backoff" : "longest_pause";
  rule.nearest("retry").nearest(blamed).fail("the first pause of " + format_duration(retry.backoff) +
                                             " is over `longest_pause`, which is " +
                                             format_duration(retry.longest_pause));
}

}  // namespace

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

const keys<port::tool_policy>& tool_keys() {
  using target = port::tool_policy;
  static const keys<target> table{
      value_key<target>(
          "deadline", a_duration(10ms, 1h), [](auto& to) -> auto& { return to.deadline; },
          "From the arrival of a call to its answer, every step of the cascade included."),
      value_key<target>(
          "patience", a_duration(100ms, 1h), [](auto& to) -> auto& { return to.patience; },
          "How long a client may take to answer a question that the server asks on the way (sampling, elicitation, "
          "roots). The deadline's clock stands still meanwhile."),
      value_key<target>(
          "read_only", maybe(a_flag()), [](auto& to) -> auto& { return to.read_only; },
          "Whether the tool only reads. Not set: the server's own hint decides. A tool that writes is never "
          "called a second time when the first call may have arrived, and its answers are not kept."),
      value_key<target>(
          "shared", a_flag(), [](auto& to) -> auto& { return to.user_independent; },
          "The tool answers every caller alike, so that an answer kept for one may be given to another."),
      section_key<target>(
          "breaker", breaker_keys(), [](auto& to) -> auto& { return to.breaker; },
          "The tool's breaker; what is not set here is taken from the top-level `breaker`."),
      section_key<target>(
          "retry", retry_keys(), [](auto& to) -> auto& { return to.retry; },
          "Whether a failed try of the tool is made again within the deadline, as far as its server's `retry_budget` "
          "goes."),
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

void check_tools(const field& at, const gateway& made) {
  for (const tool_rule& rule : made.tools) {
    const field place = at.nearest(rule.pattern);
    const port::tool_policy policy = made.policy_for(rule.pattern);
    // What is wrong at the top level already is reported there alone.
    if (place.at().find("breaker") != nullptr && !breaker::check(made.breaker)) {
      check_breaker(place.nearest("breaker"), policy.breaker);
    }
    check_times(place, policy);
    check_retry(place, policy.retry);
    if (place.at().find("fallback") != nullptr) check_fallback(place, rule.pattern, policy);
  }
}

}  // namespace switchgear::config
