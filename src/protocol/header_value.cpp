#include "protocol/header_value.hpp"

#include "protocol/base64.hpp"

#include <algorithm>

namespace switchgear::protocol {

namespace {

constexpr std::string_view opening = "=?base64?";
constexpr std::string_view closing = "?=";

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

bool is_wrapped(std::string_view value) {
  return value.size() >= opening.size() + closing.size() && value.starts_with(opening) && value.ends_with(closing);
}

bool travels_unharmed(std::string_view text) {
  return !text.empty() && !is_blank(text.front()) && !is_blank(text.back()) && !is_wrapped(text) &&
         std::ranges::all_of(text, [](char c) { return c == '\t' || (c >= ' ' && c <= '~'); });
}

}  // namespace

std::string encode_header_value(std::string_view text) {
  if (travels_unharmed(text)) return std::string(text);
  return std::string(opening).append(base64_encode(text, base64_form::padded)).append(closing);
}

std::optional<std::string> decode_header_value(std::string_view value) {
  while (!value.empty() && is_blank(value.front())) value.remove_prefix(1);
  while (!value.empty() && is_blank(value.back())) value.remove_suffix(1);
  if (!is_wrapped(value)) return std::string(value);
  value.remove_prefix(opening.size());
  value.remove_suffix(closing.size());
  return base64_decode(value, base64_form::padded);
}

}  // namespace switchgear::protocol
