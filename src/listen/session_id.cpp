#include "listen/session_id.hpp"

#include "protocol/base64.hpp"
#include "protocol/version.hpp"

#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <algorithm>
#include <span>

namespace switchgear::listen {

namespace {

// One byte each: format, revision, abilities. Then issued, salt, principal and the seal over all of them.
constexpr unsigned char format = 1;
constexpr std::size_t issued_size = 6, principal_size = 8, seal_size = 16;
constexpr std::size_t issued_at = 3;
constexpr std::size_t salt_at = issued_at + issued_size;
constexpr std::size_t principal_at = salt_at + std::tuple_size_v<session_salt>;
constexpr std::size_t seal_at = principal_at + principal_size;
constexpr std::size_t size = seal_at + seal_size;
static_assert((size * 4 + 2) / 3 == session_id_size);

using bytes = std::array<unsigned char, size>;

void put(std::span<unsigned char> to, std::uint64_t value) {
  for (std::size_t i = to.size(); i-- > 0; value >>= 8) to[i] = static_cast<unsigned char>(value);
}

std::uint64_t take(std::span<const unsigned char> from) {
  std::uint64_t value = 0;
  for (unsigned char byte : from) value = (value << 8) | byte;
  return value;
}

// The key may seal other things as well: the purpose keeps a seal from one place from fitting another.
bool seal_of(const bytes& content, std::string_view key, std::span<unsigned char, seal_size> seal) {
  constexpr std::string_view purpose = "switchgear session id";
  std::array<unsigned char, purpose.size() + seal_at> text;
  std::ranges::copy(purpose, text.begin());
  std::copy_n(content.begin(), seal_at, text.begin() + purpose.size());
  std::array<unsigned char, EVP_MAX_MD_SIZE> full;
  unsigned length = 0;
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), text.data(), text.size(), full.data(), &length) ==
      nullptr) {
    return false;
  }
  std::copy_n(full.begin(), seal_size, seal.begin());
  return true;
}

}  // namespace

std::optional<std::string> seal_session(const session_facts& facts, const session_salt& salt, std::string_view key) {
  bytes content{};
  const auto revision = std::ranges::find(protocol::supported_versions, facts.revision);
  content[0] = format;
  content[1] = static_cast<unsigned char>(revision - protocol::supported_versions.begin());
  content[2] = facts.abilities.bits();
  const std::span all(content);
  put(all.subspan(issued_at, issued_size), static_cast<std::uint64_t>(facts.issued));
  std::ranges::copy(salt, content.begin() + salt_at);
  put(all.subspan(principal_at, principal_size), facts.principal);
  if (!seal_of(content, key, std::span(content).subspan<seal_at, seal_size>())) return std::nullopt;
  return protocol::base64_encode({reinterpret_cast<const char*>(content.data()), size}, protocol::base64_form::url);
}

std::optional<session_facts> open_session(std::string_view id, std::string_view key) {
  if (id.size() != session_id_size) return std::nullopt;
  const auto decoded = protocol::base64_decode(id, protocol::base64_form::url);
  bytes content;
  if (!decoded || decoded->size() != size) return std::nullopt;
  std::ranges::copy(*decoded, content.begin());
  std::array<unsigned char, seal_size> expected;
  if (!seal_of(content, key, expected)) return std::nullopt;
  if (CRYPTO_memcmp(expected.data(), content.data() + seal_at, seal_size) != 0) return std::nullopt;
  if (content[0] != format || content[1] >= protocol::supported_versions.size()) return std::nullopt;
  const std::span<const unsigned char> all(content);
  return session_facts{.revision = protocol::supported_versions[content[1]],
                       .abilities = protocol::client_abilities::of_bits(content[2]),
                       .issued = static_cast<std::int64_t>(take(all.subspan(issued_at, issued_size))),
                       .principal = take(all.subspan(principal_at, principal_size))};
}

std::uint64_t digest_of(std::string_view principal) {
  if (principal.empty()) return 0;
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char*>(principal.data()), principal.size(), digest.data());
  return take(std::span<const unsigned char>(digest).first(principal_size));
}

}  // namespace switchgear::listen
