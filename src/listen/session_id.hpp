// What a session's id says: enough for any replica that has the key to serve the session. No clock, no I/O.
// Source: MCP 2025-11-25 basic/transports "Session Management"; RFC 2104 (HMAC), RFC 4648 section 5 (base64url).
#pragma once

#include "protocol/abilities.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace switchgear::listen {

struct session_facts {
  std::string_view revision;  ///< a constant of protocol::supported_versions
  protocol::client_abilities abilities;
  std::int64_t issued = 0;      ///< seconds since 1970
  std::uint64_t principal = 0;  ///< digest of whose session it is

  bool operator==(const session_facts&) const = default;
};

/// What makes two ids differ that say the same; from a source that nobody can guess.
using session_salt = std::array<unsigned char, 12>;

inline constexpr std::size_t session_id_size = 60;

/// Visible ASCII. Whoever lacks `key` can neither write one nor change a letter of one. Nothing when OpenSSL fails.
std::optional<std::string> seal_session(const session_facts& facts, const session_salt& salt, std::string_view key);

/// The facts, if the id was sealed with `key`.
std::optional<session_facts> open_session(std::string_view id, std::string_view key);

/// A digest for session_facts::principal; 0 for the anonymous one.
std::uint64_t digest_of(std::string_view principal);

}  // namespace switchgear::listen
