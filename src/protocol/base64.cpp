#include "protocol/base64.hpp"

#include <array>
#include <cstddef>

namespace switchgear::protocol {

namespace {

constexpr std::string_view common = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

constexpr char digit(base64_form form, unsigned value) {
  if (value < common.size()) return common[value];
  if (form == base64_form::padded) return value == 62 ? '+' : '/';
  return value == 62 ? '-' : '_';
}

constexpr unsigned char no_digit = 0xff;

constexpr std::array<unsigned char, 256> values_of(base64_form form) {
  std::array<unsigned char, 256> values{};
  values.fill(no_digit);
  for (unsigned value = 0; value < 64; ++value) {
    values[static_cast<unsigned char>(digit(form, value))] = static_cast<unsigned char>(value);
  }
  return values;
}

constexpr auto padded_values = values_of(base64_form::padded);
constexpr auto url_values = values_of(base64_form::url);

}  // namespace

std::string base64_encode(std::string_view bytes, base64_form form) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (char byte : bytes) {
    held = held << 8 | static_cast<unsigned char>(byte);
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text += digit(form, held >> bits & 63);
    }
  }
  if (bits != 0) text += digit(form, held << (6 - bits) & 63);
  while (form == base64_form::padded && text.size() % 4 != 0) text += '=';
  return text;
}

std::optional<std::string> base64_decode(std::string_view text, base64_form form) {
  if (form == base64_form::padded) {
    if (text.size() % 4 != 0) return std::nullopt;
    for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  }
  if (text.size() % 4 == 1) return std::nullopt;
  const auto& values = form == base64_form::padded ? padded_values : url_values;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t held = 0;
  unsigned bits = 0;
  for (char c : text) {
    const unsigned value = values[static_cast<unsigned char>(c)];
    if (value == no_digit) return std::nullopt;
    held = held << 6 | value;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(held >> bits & 0xff);
    }
  }
  if ((held & ((1U << bits) - 1)) != 0) return std::nullopt;
  return bytes;
}

}  // namespace switchgear::protocol
