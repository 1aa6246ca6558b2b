#include "config/gateway.hpp"

#include <utility>

namespace switchgear::config {

std::string state_fault(const std::string& state) {
  if (state == "memory") return {};
  for (const std::string_view scheme : {"redis:", "rediss:", "redis+sentinel:", "redis+cluster:"}) {
    if (state.starts_with(scheme))
      return "sharing breakers through Redis is not supported in this version; write memory";
  }
  return "\"" + state + "\" is not known; write memory";
}

upstream gateway::new_upstream(std::string alias) const {
  upstream made;
  made.link.alias = std::move(alias);
  made.link.max_answer = max_answer;
  made.breaker = breaker;
  return made;
}

bool matches(std::string_view pattern, std::string_view exported_name) {
  if (!pattern.ends_with('*')) return pattern == exported_name;
  pattern.remove_suffix(1);
  return exported_name.starts_with(pattern);
}

port::tool_policy gateway::policy_for(std::string_view exported_name) const {
  port::tool_policy policy;
  policy.breaker = breaker;
  for (const tool_rule& rule : tools) {
    if (!matches(rule.pattern, exported_name)) continue;
    for (const auto& apply : rule.changes) apply(policy);
  }
  return policy;
}

}  // namespace switchgear::config
