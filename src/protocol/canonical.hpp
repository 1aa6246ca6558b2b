// One text for all JSON texts that mean the same, and a short key of it: for looking up what was asked before.
#pragma once

#include "base/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

namespace switchgear::protocol {

/// `json` without whitespace, members sorted by the bytes of their names, strings with one way of escaping. Numbers
/// keep their text, so 1 and 1.0 stay apart, as do null and absent: two texts with one form mean the same to any
/// server; the reverse need not hold. Errors: errc::not_json, errc::too_deep (128 levels), errc::duplicate_member.
result<std::string> canonical(std::string_view json);

/// 128 bits of SHA-256: nobody can make two inputs meet, so a key alone may decide whose answer is given.
struct digest {
  std::array<unsigned char, 16> bytes{};
  friend bool operator==(const digest&, const digest&) = default;
};

/// Of several fields. Each goes in with its length, so that ("ab","c") and ("a","bc") differ.
digest digest_of(std::initializer_list<std::string_view> fields);

struct digest_hash {
  std::size_t operator()(const digest& key) const noexcept {
    std::size_t value;
    std::memcpy(&value, key.bytes.data(), sizeof value);
    return value;
  }
};

}  // namespace switchgear::protocol
