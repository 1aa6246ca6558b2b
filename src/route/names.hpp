// The names under which tools are exported. Source: MCP 2025-11-25 server/tools "Tool Names", and what agents accept.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace switchgear::route {

enum class naming : unsigned char {
  prefix,  ///< alias__tool
  plain,   ///< tool; for a gateway with one upstream
};

/// Agents refuse longer names, some of them the whole list with it.
inline constexpr std::size_t longest_name = 64;

/// The exported name: 1 to 64 characters of [A-Za-z0-9_-]. It depends on nothing but its arguments, so it is the same
/// on every replica, after every restart and whatever else is listed (RC-043). A name that fits as it is stays as it
/// is; one that had to be changed ends in `_` and the first 8 hex digits of SHA-256(alias NUL tool), since the change
/// alone could make two tools one.
std::string exported_name(naming how, std::string_view alias, std::string_view tool);

/// Whether each of `name` is a letter, digit, `_` or `-`, and there are 1 to 64 of them.
bool is_exportable(std::string_view name);

}  // namespace switchgear::route
