// The version of the program, as it names itself to clients, to tool servers and to people.
#pragma once

#include <string_view>

namespace switchgear {

inline constexpr std::string_view version = "0.1.0";

}  // namespace switchgear
