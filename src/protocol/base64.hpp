// Bytes as text and back, strictly: one text for each run of bytes. Source: RFC 4648 sections 4 and 5.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace switchgear::protocol {

enum class base64_form : std::uint8_t {
  padded,  ///< `+` and `/`, filled up with `=`
  url,     ///< `-` and `_`, nothing at the end
};

std::string base64_encode(std::string_view bytes, base64_form form);

/// Nothing if `text` is not precisely what base64_encode() makes of some bytes: other characters, missing or needless
/// padding, and bits that say nothing but are set are all refused, so no two texts mean the same.
std::optional<std::string> base64_decode(std::string_view text, base64_form form);

}  // namespace switchgear::protocol
