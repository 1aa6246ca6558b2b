#include "route/names.hpp"

#include <openssl/sha.h>

#include <algorithm>
#include <array>

namespace switchgear::route {

namespace {

constexpr std::string_view separator = "__";
constexpr std::size_t hash_digits = 8;

bool fits(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// Two different pairs of alias and tool could make one name only if an alias could end inside the other's separator.
bool splits_cleanly(std::string_view alias) {
  return alias.find(separator) == std::string_view::npos && !alias.ends_with('_');
}

}  // namespace

bool is_exportable(std::string_view name) {
  return !name.empty() && name.size() <= longest_name && std::all_of(name.begin(), name.end(), fits);
}

std::string exported_name(naming how, std::string_view alias, std::string_view tool) {
  std::string name;
  if (how == naming::prefix) name.append(alias).append(separator);
  name.append(tool);
  if (is_exportable(name) && (how == naming::plain || splits_cleanly(alias))) return name;

  // One `_` for a character, not one for each of its bytes.
  std::string readable;
  for (char c : name) {
    const bool continued = (static_cast<unsigned char>(c) & 0xc0) == 0x80;
    if (!continued) readable += fits(c) ? c : '_';
  }
  readable.resize(std::min(readable.size(), longest_name - 1 - hash_digits));
  readable += '_';
  const std::string pair = std::string(alias).append(1, '\0').append(tool);
  std::array<unsigned char, SHA256_DIGEST_LENGTH> hash{};
  SHA256(reinterpret_cast<const unsigned char*>(pair.data()), pair.size(), hash.data());
  for (std::size_t i = 0; i < hash_digits / 2; ++i) {
    constexpr char digits[] = "0123456789abcdef";
    readable += digits[hash[i] >> 4];
    readable += digits[hash[i] & 15];
  }
  return readable;
}

}  // namespace switchgear::route
