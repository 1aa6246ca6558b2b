// "Did you mean ...?"
#pragma once

#include <string_view>
#include <vector>

namespace switchgear::config {

/// The candidate that is close enough to `name` to be what was meant; empty when there is none.
std::string_view nearest_name(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace switchgear::config
