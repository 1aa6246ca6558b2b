// Texts that peers carry for us and can neither read nor change: AES-256-GCM in base64url.
// Source: NIST SP 800-38D; RFC 4648 section 5.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace switchgear::protocol {

using seal_key = std::array<unsigned char, 32>;

/// Must never be used twice with one key: 96 bits from the system's random source, for less than 2^32 texts a key.
using seal_nonce = std::array<unsigned char, 12>;

/// Longest text that is opened, sealed. Nothing that we seal comes near it.
inline constexpr std::size_t longest_sealed = std::size_t{1024} * 1024;

/// A key for one purpose, made of a secret that has others: whoever learns it learns nothing of those.
seal_key derived_key(std::string_view secret, std::string_view purpose);

/// `text`, sealed. `context` says what for and for whom; it is not in the result, and opening needs the same.
std::string seal(const seal_key& key, const seal_nonce& nonce, std::string_view context, std::string_view text);

/// What was sealed with this key and context. Nothing if `sealed` is not precisely what seal() gave.
std::optional<std::string> open_sealed(const seal_key& key, std::string_view context, std::string_view sealed);

}  // namespace switchgear::protocol
