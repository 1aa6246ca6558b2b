#include "cascade/plan.hpp"

#include <algorithm>

namespace switchgear::cascade {

std::string_view name(const step& which) {
  constexpr std::string_view names[] = {"cache", "tool", "static"};
  static_assert(std::variant_size_v<step> == std::size(names));
  return names[which.index()];
}

duration minimum_time(const step& which) {
  const auto* tool = std::get_if<tool_step>(&which);
  return tool != nullptr ? tool->minimum_time : duration::zero();
}

bool may_act(const step& which) {
  return std::holds_alternative<tool_step>(which);
}

bool same_target(const step& one, const step& other) {
  const auto* tool = std::get_if<tool_step>(&one);
  const auto* other_tool = std::get_if<tool_step>(&other);
  return tool != nullptr && other_tool != nullptr && tool->name == other_tool->name;
}

bool plan::uses_cache() const {
  return std::ranges::any_of(steps, [](const step& one) { return std::holds_alternative<cache_step>(one); });
}

}  // namespace switchgear::cascade
