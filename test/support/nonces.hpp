// Nonces that a test can repeat.
#pragma once

#include "protocol/seal.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <optional>

namespace switchgear::test {

inline std::optional<protocol::seal_nonce> counted_nonce() {
  static std::atomic<std::uint64_t> given{0};
  const std::uint64_t next = ++given;
  protocol::seal_nonce nonce{};
  std::memcpy(nonce.data(), &next, sizeof next);
  return nonce;
}

}  // namespace switchgear::test
