#include "config/gateway.hpp"

#include "config/state_url.hpp"

#include <set>
#include <utility>

namespace switchgear::config {

std::string state_fault(const std::string& state) {
  if (state == "memory") return {};
  auto parsed = parse_redis_url(state);
  if (parsed) return {};
  return parsed.error().starts_with("is not known") ? "\"" + shown_state(state) + "\" " + parsed.error()
                                                    : std::move(parsed).error();
}

std::optional<port::redis_settings> gateway::shared_state() const {
  auto parsed = parse_redis_url(state);
  if (!parsed) return std::nullopt;
  port::redis_settings made = redis;
  made.shape = parsed->shape;
  made.tls = parsed->tls;
  made.hosts = std::move(parsed->hosts);
  made.master = std::move(parsed->master);
  made.database = parsed->database;
  if (!parsed->user.empty()) made.user = std::move(parsed->user);
  if (!parsed->password.empty()) made.password = std::move(parsed->password);
  return made;
}

port::listen_settings gateway::listening() const {
  std::set<std::string> headers;
  for (const upstream& each : upstreams) headers.insert(each.link.http.forward.begin(), each.link.http.forward.end());
  port::listen_settings made = listen;
  made.credentials.assign(headers.begin(), headers.end());
  return made;
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
  policy.breaker = policy.step_breaker = breaker;
  for (const tool_rule& rule : tools) {
    if (!matches(rule.pattern, exported_name)) continue;
    for (const auto& apply : rule.changes) apply(policy);
  }
  return policy;
}

}  // namespace switchgear::config
