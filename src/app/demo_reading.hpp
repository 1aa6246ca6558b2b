// What the demonstration's client reads out of the gateway's answers.
#pragma once

#include "app/demo_story.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace switchgear::app {

inline constexpr std::string_view demo_tool = "weather__now";

/// What an answer to tools/call says; nothing for a body that is no JSON-RPC response with this id.
std::optional<seen_call> read_answer(std::string_view body, std::uint64_t id);

/// How the breakers stand, by the text of /api/circuits; nothing when it cannot be read. An unknown tool is closed.
std::optional<seen_state> read_circuits(std::string_view body);

}  // namespace switchgear::app
