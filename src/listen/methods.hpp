// The methods of both eras: which are there, for whom, and how each is answered.
// Source: MCP 2025-11-25 and 2026-07-28, schema.
#pragma once

#include "port/offer.hpp"
#include "protocol/version.hpp"

#include <cstdint>
#include <string_view>

namespace switchgear::listen {

/// How a request is answered. The four lists stand in port::listed's order.
enum class method : std::uint8_t {
  list_tools,
  list_prompts,
  list_resources,
  list_templates,
  ping,
  discover,
  set_level,
  call,  ///< by the call handler
  subscribe,
  unsubscribe,
  listen,
  unknown,  ///< of no era, of the other one, or not offered
};

/// What a request of that name is to a client of that era, while this is offered.
method method_of(std::string_view name, protocol::era era, const port::offer& offer);

}  // namespace switchgear::listen
