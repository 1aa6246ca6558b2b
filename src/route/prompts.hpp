// All prompts of all upstreams under their exported names, which are made as those of tools are.
#pragma once

#include "protocol/definitions_list.hpp"
#include "route/names.hpp"
#include "route/table.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace switchgear::route {

/// What one upstream listed, now or before it went down. `index` is the caller's; it comes back in the items.
struct upstream_prompts {
  std::string_view alias;
  std::uint32_t index = 0;
  std::span<const protocol::definition> prompts;
};

/// The result is the same whatever the order of `upstreams` and of the prompts in them.
table<item> merged_prompts(std::span<const upstream_prompts> upstreams, naming how);

}  // namespace switchgear::route
