// What the demonstration says at its end: a table of the phases, and the lines to paste.
#pragma once

#include "app/demo_story.hpp"

#include <cstdint>
#include <string>

namespace switchgear::app {

/// "85 ms", "1.3 s".
std::string length_text(duration length);

/// A table of the phases.
std::string demo_summary(const demo_story& story);

/// What a user pastes to try the gateway that stays up.
std::string demo_paste(std::uint16_t mcp_port, std::uint16_t admin_port);

}  // namespace switchgear::app
