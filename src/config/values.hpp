// The scalar values of a configuration, from their text and back.
#pragma once

#include "base/time.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace switchgear::config {

// Each parse_ function gives nothing for a text that is not such a value; it never throws. Each format_ function
// writes the shortest text that parses back to the same value.

/// `250ms`, `1.5s`, `10m`, `1h`; also `us`; a bare `0`.
std::optional<duration> parse_duration(std::string_view text);
std::string format_duration(duration value);

/// `15%`, `99.99%`, as a share of 1. At most nine decimals, at most 100 %.
std::optional<double> parse_share(std::string_view text);
std::string format_share(double value);

/// `4MiB`, `64KiB`, `1GB`, a bare number of bytes.
std::optional<std::size_t> parse_size(std::string_view text);
std::string format_size(std::size_t value);

/// A whole number without a sign.
std::optional<std::uint64_t> parse_count(std::string_view text);

/// A decimal number such as `1.5`, without exponent.
std::optional<double> parse_decimal(std::string_view text);
std::string format_decimal(double value);

/// Where to listen. `[::1]:8080` for IPv6; a bare port or `:port` means the loopback address.
struct endpoint {
  std::string address;
  std::uint16_t port = 0;
};
std::optional<endpoint> parse_endpoint(std::string_view text);
std::string format_endpoint(const endpoint& value);

/// A text as a YAML scalar that reads back as the same text, in quotes where it needs them.
std::string quote(std::string_view text);

}  // namespace switchgear::config
