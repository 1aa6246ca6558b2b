#include "cascade/plan.hpp"

#include <algorithm>

namespace switchgear::cascade {

std::string_view name(const step& which) {
  constexpr std::string_view names[] = {"cache", "tool", "static"};
  static_assert(std::variant_size_v<step> == std::size(names));
  return names[which.index()];
}

bool plan::uses_cache() const {
  return std::ranges::any_of(steps, [](const step& one) { return std::holds_alternative<cache_step>(one); });
}

}  // namespace switchgear::cascade
