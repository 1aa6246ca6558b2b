#include "config/values.hpp"

#include <boost/url/ipv4_address.hpp>
#include <boost/url/ipv6_address.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace switchgear::config {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// A decimal number as a whole number of 10^-9, so that 99.99 stays exact.
struct fixed_point {
  std::uint64_t billionths = 0;
  std::string_view rest;  // what follows the number
};

std::optional<fixed_point> read_fixed_point(std::string_view text) {
  constexpr std::uint64_t most = 9'000'000'000;  // above it a multiplication by 10^9 no longer fits
  std::uint64_t whole = 0;
  std::size_t at = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    whole = whole * 10 + static_cast<unsigned>(text[at] - '0');
    if (whole > most) return std::nullopt;
  }
  if (at == 0) return std::nullopt;
  std::uint64_t fraction = 0;
  if (at < text.size() && text[at] == '.') {
    const std::size_t first = ++at;
    std::uint64_t unit = 100'000'000;
    for (; at < text.size() && is_digit(text[at]); ++at, unit /= 10) {
      if (unit == 0) return std::nullopt;
      fraction += unit * static_cast<unsigned>(text[at] - '0');
    }
    if (at == first) return std::nullopt;
  }
  return fixed_point{whole * 1'000'000'000 + fraction, text.substr(at)};
}

std::string format_billionths(std::uint64_t billionths) {
  std::string text = std::to_string(billionths / 1'000'000'000);
  if (const std::uint64_t fraction = billionths % 1'000'000'000) {
    std::string decimals = std::to_string(fraction);
    decimals.insert(0, 9 - decimals.size(), '0');
    decimals.erase(decimals.find_last_not_of('0') + 1);
    text += '.' + decimals;
  }
  return text;
}

struct unit {
  std::string_view name;
  std::uint64_t worth;
};

constexpr std::array<unit, 5> time_units{
    {{"h", 3'600'000'000'000}, {"m", 60'000'000'000}, {"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}}};

constexpr std::array<unit, 8> size_units{{{"GiB", 1ULL << 30},
                                          {"GB", 1'000'000'000},
                                          {"MiB", 1ULL << 20},
                                          {"MB", 1'000'000},
                                          {"KiB", 1ULL << 10},
                                          {"kB", 1'000},
                                          {"B", 1},
                                          {"", 1}}};

/// A number with a unit, as a whole number of the smallest unit; nothing when it does not come out whole.
template <std::size_t N>
std::optional<std::uint64_t> read_with_unit(std::string_view text, const std::array<unit, N>& units) {
  const auto number = read_fixed_point(text);
  if (!number) return std::nullopt;
  for (const unit& each : units) {
    if (number->rest != each.name) continue;
    const auto product = static_cast<unsigned __int128>(number->billionths) * each.worth;
    const auto whole = product / 1'000'000'000;
    if (product % 1'000'000'000 != 0 || whole > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
    return static_cast<std::uint64_t>(whole);
  }
  return std::nullopt;
}

}  // namespace

std::optional<duration> parse_duration(std::string_view text) {
  if (text == "0") return duration{0};
  const auto nanoseconds = read_with_unit(text, time_units);
  if (!nanoseconds) return std::nullopt;
  return duration{static_cast<std::int64_t>(*nanoseconds)};
}

std::string format_duration(duration value) {
  const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(value.count(), 0));
  if (count == 0) return "0";
  for (const unit& each : time_units) {
    if (count % each.worth == 0) return std::to_string(count / each.worth) + std::string(each.name);
  }
  const auto microseconds = static_cast<unsigned __int128>(count) * 1'000'000;
  return format_billionths(static_cast<std::uint64_t>(microseconds)) + "us";
}

std::optional<double> parse_share(std::string_view text) {
  const auto number = read_fixed_point(text);
  constexpr std::uint64_t all = 100'000'000'000;
  if (!number || number->rest != "%" || number->billionths > all) return std::nullopt;
  return static_cast<double>(number->billionths) / static_cast<double>(all);
}

std::string format_share(double value) {
  const double billionths = std::clamp(value, 0.0, 1.0) * 1e11;
  return format_billionths(static_cast<std::uint64_t>(std::llround(billionths))) + "%";
}

std::optional<std::size_t> parse_size(std::string_view text) {
  return read_with_unit(text, size_units);
}

std::string format_size(std::size_t value) {
  if (value == 0) return "0";
  for (const unit& each : size_units) {
    if (value % each.worth == 0) return std::to_string(value / each.worth) + std::string(each.name);
  }
  return std::to_string(value);
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_decimal(std::string_view text) {
  const auto number = read_fixed_point(text);
  if (!number || !number->rest.empty()) return std::nullopt;
  return static_cast<double>(number->billionths) / 1e9;
}

std::string format_decimal(double value) {
  return format_billionths(static_cast<std::uint64_t>(std::llround(std::max(value, 0.0) * 1e9)));
}

std::optional<endpoint> parse_endpoint(std::string_view text) {
  endpoint parsed;
  const std::size_t colon = text.rfind(':');
  std::string_view host = colon == text.npos ? std::string_view{} : text.substr(0, colon);
  const auto port = parse_count(colon == text.npos ? text : text.substr(colon + 1));
  if (!port || *port > 65535) return std::nullopt;
  parsed.port = static_cast<std::uint16_t>(*port);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (host.empty()) host = "127.0.0.1";
  if (host == "localhost") host = "127.0.0.1";
  if (bracketed) {
    const auto address = boost::urls::parse_ipv6_address(host);
    if (!address) return std::nullopt;
    parsed.address = address->to_string();
  } else {
    const auto address = boost::urls::parse_ipv4_address(host);
    if (!address) return std::nullopt;
    parsed.address = address->to_string();
  }
  return parsed;
}

std::string format_endpoint(const endpoint& value) {
  const bool brackets = value.address.find(':') != value.address.npos;
  return (brackets ? '[' + value.address + ']' : value.address) + ':' + std::to_string(value.port);
}

std::string quote(std::string_view text) {
  const auto is_plain = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.' ||
           c == '/' || c == '%';
  };
  const bool starts_well = !text.empty() && (is_digit(text[0]) || text[0] == '/' || text[0] == '.' || text[0] == '_' ||
                                             (text[0] >= 'A' && text[0] <= 'z'));
  constexpr std::array<std::string_view, 6> words{"null", "Null", "NULL", "true", "false", "~"};
  if (starts_well && std::all_of(text.begin(), text.end(), is_plain) &&
      std::find(words.begin(), words.end(), text) == words.end()) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\t':
        quoted += "\\t";
        break;
      case '\r':
        quoted += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          constexpr std::string_view digits = "0123456789abcdef";
          quoted += "\\x";
          quoted += digits[static_cast<unsigned char>(c) >> 4];
          quoted += digits[static_cast<unsigned char>(c) & 15];
        } else {
          quoted += c;
        }
    }
  }
  return quoted + '"';
}

}  // namespace switchgear::config
