#include "cascade/plan.hpp"

#include <algorithm>

namespace switchgear::cascade {

std::string_view name(const step& which) {
  constexpr std::string_view names[] = {"cache", "tool", "http", "model", "static"};
  static_assert(std::variant_size_v<step> == std::size(names));
  return names[which.index()];
}

duration minimum_time(const step& which) {
  if (const auto* tool = std::get_if<tool_step>(&which)) return tool->minimum_time;
  if (const auto* http = std::get_if<http_step>(&which)) return http->minimum_time;
  if (const auto* model = std::get_if<model_step>(&which)) return model->minimum_time;
  return duration::zero();
}

duration time_kept_for(const step& which) {
  const auto* cache = std::get_if<cache_step>(&which);
  return cache != nullptr ? cache->look : minimum_time(which);
}

bool may_act(const step& which) {
  const auto* http = std::get_if<http_step>(&which);
  return http != nullptr ? !http->reads() : std::holds_alternative<tool_step>(which);
}

bool same_target(const step& one, const step& other) {
  const auto* tool = std::get_if<tool_step>(&one);
  const auto* other_tool = std::get_if<tool_step>(&other);
  if (tool != nullptr && other_tool != nullptr) return tool->name == other_tool->name;
  if (std::holds_alternative<model_step>(one) && std::holds_alternative<model_step>(other)) return true;
  const auto* http = std::get_if<http_step>(&one);
  const auto* other_http = std::get_if<http_step>(&other);
  return http != nullptr && other_http != nullptr && http->method == other_http->method &&
         http->url == other_http->url && http->body == other_http->body;
}

std::string_view name(http_step::verb method) {
  constexpr std::string_view names[] = {"GET", "POST", "PUT"};
  return names[static_cast<unsigned>(method)];
}

bool plan::uses_cache() const {
  return std::ranges::any_of(steps, [](const step& one) { return std::holds_alternative<cache_step>(one); });
}

bool plan::gives_fresh() const {
  return std::ranges::any_of(steps, [](const step& one) {
    const auto* cache = std::get_if<cache_step>(&one);
    return cache != nullptr && cache->fresh_for > duration::zero();
  });
}

duration plan::longest_age(share whose) const {
  duration longest{};
  for (const step& one : steps) {
    const auto* cache = std::get_if<cache_step>(&one);
    if (cache != nullptr && cache->share == whose) longest = std::max(longest, cache->max_age);
  }
  return longest;
}

}  // namespace switchgear::cascade
