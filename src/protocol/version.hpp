// The MCP revisions and which of them we speak. Source: MCP basic/lifecycle "Version Negotiation", basic/versioning.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace switchgear::protocol {

/// Oldest first.
inline constexpr std::array<std::string_view, 3> supported_versions{"2025-03-26", "2025-06-18", "2025-11-25"};
inline constexpr std::string_view newest_version = supported_versions.back();

/// What a peer that names no version after initialize is taken to speak (MCP 2025-06-18, basic/transports).
inline constexpr std::string_view assumed_version = "2025-03-26";

/// The modern revision: every request says for itself what a legacy session agrees on once.
inline constexpr std::string_view modern_version = "2026-07-28";

/// All that a client may choose from, newest first: `supportedVersions` of server/discover, and `supported` of the
/// error that refuses another one. The legacy ones begin with initialize.
inline constexpr std::array<std::string_view, 4> served_versions{modern_version, supported_versions[2],
                                                                 supported_versions[1], supported_versions[0]};

enum class era : std::uint8_t {
  legacy,   ///< up to 2025-11-25: initialize, sessions, requests of servers
  modern,   ///< 2026-07-28: none of these
  unknown,  ///< a revision that we do not speak
};

constexpr bool is_supported(std::string_view version) {
  for (std::string_view ours : supported_versions) {
    if (ours == version) return true;
  }
  return false;
}

constexpr era era_of(std::string_view version) {
  if (is_supported(version)) return era::legacy;
  return version == modern_version ? era::modern : era::unknown;
}

/// What to answer to an initialize that asks for `wanted`: the same if we speak it, else our newest. Points to a
/// constant.
constexpr std::string_view negotiate(std::string_view wanted) {
  for (std::string_view ours : supported_versions) {
    if (ours == wanted) return ours;
  }
  return newest_version;
}

}  // namespace switchgear::protocol
