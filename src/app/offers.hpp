// What all upstreams offer, as the one offer that clients get.
#pragma once

#include "port/offer.hpp"
#include "protocol/server_abilities.hpp"

#include <array>
#include <span>
#include <string_view>

namespace switchgear::app {

/// What one upstream said of itself when it was last reached.
struct introduction {
  std::string_view alias;
  protocol::server_abilities abilities;
  std::string_view instructions;
};

/// JSON arrays of all definitions, by port::listed.
using definition_arrays = std::array<std::string_view, port::listed_count>;

/// A client asks what there is when it connects, and goes by that for as long as it lives: until every upstream was
/// tried, everything is offered; afterwards what some upstream has. Tools always are. Instructions of an only upstream
/// stay as they are; of several, each stands under its alias, cut to `longest_instructions`.
port::offer merged_offer(std::span<const introduction> upstreams, const definition_arrays& lists, bool all_tried);

inline constexpr std::size_t longest_instructions = 4 * 1024;              ///< of one upstream among several
inline constexpr std::size_t all_instructions = 4 * longest_instructions;  ///< of all of them together

}  // namespace switchgear::app
