// Lines into a byte stream: the framing of MCP over stdio. Source: MCP basic/transports "stdio".
#pragma once

#include "base/parts.hpp"

#include <string>

namespace switchgear::protocol {

/// `message` as a line with its end. Line breaks between tokens become spaces. U+2028 and U+2029, which some readers
/// take for line ends, can stand only inside strings and are escaped there, so that the values stay the same.
std::string write_line(const parts& message);

}  // namespace switchgear::protocol
