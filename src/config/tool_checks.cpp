// What is wrong, or cannot be meant, with a rule of `tools` as a whole.
#include "config/breaker_keys.hpp"
#include "config/concurrency_keys.hpp"
#include "config/fallback.hpp"
#include "config/fallback_circles.hpp"
#include "config/http_step_keys.hpp"
#include "config/tool_keys.hpp"
#include "config/values.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace switchgear::config {
namespace {

using namespace std::chrono_literals;

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

/// The first of these keys that the rule sets, for a warning about several of them; the rule itself if none is.
field blamed(const field& rule, std::initializer_list<std::pair<std::string_view, std::string_view>> keys) {
  for (const auto& [section, name] : keys) {
    if (name.empty() && rule.at().find(section) != nullptr) return rule.nearest(section);
    if (!name.empty() && sets(rule, section, name)) return rule.nearest(section).nearest(name);
  }
  return rule;
}

void check_timeouts(const field& rule, const port::tool_policy& policy) {
  const std::pair<std::string_view, duration> limits[] = {
      {"first_byte", policy.timeout.first_byte}, {"idle", policy.timeout.idle}, {"total", policy.timeout.total}};
  for (const auto& [name, limit] : limits) {
    if (limit < policy.deadline) continue;
    blamed(rule, {{"timeout", name}, {"deadline", ""}})
        .warn("the " + std::string(name) + " timeout of " + format_duration(limit) + " is not below the deadline of " +
              format_duration(policy.deadline) + ", so that it never ends a try");
  }
}

// What the tries of a call that hangs take together, without the pauses between them.
void check_retry_time(const field& rule, const port::tool_policy& policy) {
  if (policy.retry.attempts < 2) return;
  const auto at = [&] { return blamed(rule, {{"retry", "attempts"}, {"timeout", "total"}, {"deadline", ""}}); };
  const duration total = policy.timeout.total;
  const std::string attempts = std::to_string(policy.retry.attempts);
  if (total == duration::zero()) {
    if (policy.timeout.first_byte > duration::zero()) return;
    at().warn("a first try that hangs takes the whole deadline, so that there is no other; set `timeout`");
  } else if (total * policy.retry.attempts > policy.deadline) {
    at().warn(attempts + " tries of " + format_duration(total) + " do not fit into the deadline of " +
              format_duration(policy.deadline));
  }
}

void check_reading(const field& rule, const port::tool_policy& policy) {
  if (policy.read_only != false || policy.hedge.quantile == 0) return;
  blamed(rule, {{"hedge", ""}, {"read_only", ""}})
      .warn("`read_only` is false, and only tools that read get a second try beside the first");
}

/// Whether the pattern may cover a tool of a server that sees its callers' credentials.
bool may_forward(std::string_view pattern, const gateway& made) {
  const bool open = pattern.ends_with('*');
  if (open) pattern.remove_suffix(1);
  return std::ranges::any_of(made.upstreams, [&](const upstream& each) {
    if (each.link.http.forward.empty()) return false;
    const std::string begin = each.link.alias + "__";
    return made.names == route::naming::plain || pattern.starts_with(begin) || (open && begin.starts_with(pattern));
  });
}

void check_sharing(const field& rule, std::string_view pattern, const port::tool_policy& policy, const gateway& made) {
  if (rule.at().find("fallback") == nullptr || !may_forward(pattern, made)) return;
  for (std::size_t i = 0; i < policy.fallback.steps.size(); ++i) {
    const auto* cache = std::get_if<cascade::cache_step>(&policy.fallback.steps[i]);
    if (cache == nullptr || cache->share != cascade::share::all) continue;
    place_of_step(rule, i).warn(
        "gives everybody what a server answered to one caller's credential, which is in `forward`; write `share: "
        "principal` unless it answers all alike");
  }
}

void check_retry(const field& rule, const cascade::retry_policy& retry) {
  if (rule.at().find("retry") == nullptr || retry.backoff <= retry.longest_pause) return;
  const char* wrong = sets(rule, "retry", "backoff") ? "backoff" : "longest_pause";
  rule.nearest("retry").nearest(wrong).fail("the first pause of " + format_duration(retry.backoff) +
                                            " is over `longest_pause`, which is " +
                                            format_duration(retry.longest_pause));
}

}  // namespace

void check_tools(const field& at, const gateway& made) {
  for (const tool_rule& rule : made.tools) {
    const field place = at.nearest(rule.pattern);
    const port::tool_policy policy = made.policy_for(rule.pattern);
    // What is wrong at the top level already is reported there alone.
    if (place.at().find("breaker") != nullptr && !breaker::check(made.breaker)) {
      check_breaker(place.nearest("breaker"), policy.breaker);
    }
    check_times(place, policy);
    check_timeouts(place, policy);
    check_retry(place, policy.retry);
    check_retry_time(place, policy);
    check_reading(place, policy);
    check_sharing(place, rule.pattern, policy, made);
    if (place.at().find("fallback") != nullptr) check_fallback(place, rule.pattern, policy);
  }
  check_circles(at, made);
  check_endpoints(at, made);
  check_concurrency_of_servers(at, made);
}

}  // namespace switchgear::config
