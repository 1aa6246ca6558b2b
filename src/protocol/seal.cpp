#include "protocol/seal.hpp"

#include "protocol/base64.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <memory>
#include <new>

namespace switchgear::protocol {

namespace {

constexpr std::size_t tag_size = 16;

using cipher_context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

cipher_context fresh_context() {
  cipher_context made(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  if (!made) throw std::bad_alloc();
  return made;
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text, std::size_t offset = 0) {
  return reinterpret_cast<unsigned char*>(text.data() + offset);
}
int size_of(std::string_view text) {
  return static_cast<int>(text.size());
}

}  // namespace

// The nonce, the encrypted text, the tag.
seal_key derived_key(std::string_view secret, std::string_view purpose) {
  seal_key made{};
  unsigned size = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(purpose.data()), purpose.size(), made.data(), &size);
  return made;
}

std::string seal(const seal_key& key, const seal_nonce& nonce, std::string_view context, std::string_view text) {
  std::string sealed(nonce.begin(), nonce.end());
  sealed.resize(nonce.size() + text.size() + tag_size);
  const cipher_context cipher = fresh_context();
  int written = 0;
  const bool good =
      EVP_EncryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key.data(), nonce.data()) == 1 &&
      EVP_EncryptUpdate(cipher.get(), nullptr, &written, bytes_of(context), size_of(context)) == 1 &&
      EVP_EncryptUpdate(cipher.get(), bytes_of(sealed, nonce.size()), &written, bytes_of(text), size_of(text)) == 1 &&
      EVP_EncryptFinal_ex(cipher.get(), bytes_of(sealed, nonce.size() + text.size()), &written) == 1 &&
      EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_GET_TAG, static_cast<int>(tag_size),
                          bytes_of(sealed, nonce.size() + text.size())) == 1;
  // It fails for want of memory alone, and half a seal must not get out.
  if (!good) throw std::bad_alloc();
  return base64_encode(sealed, base64_form::url);
}

std::optional<std::string> open_sealed(const seal_key& key, std::string_view context, std::string_view sealed) {
  constexpr std::size_t nonce_size = sizeof(seal_nonce);
  if (sealed.size() > longest_sealed) return std::nullopt;
  std::optional<std::string> bytes = base64_decode(sealed, base64_form::url);
  if (!bytes || bytes->size() < nonce_size + tag_size) return std::nullopt;

  const std::size_t size = bytes->size() - nonce_size - tag_size;
  const std::string_view hidden = std::string_view(*bytes).substr(nonce_size, size);
  std::string text(size, '\0');
  const cipher_context cipher = fresh_context();
  int written = 0;
  const bool good = EVP_DecryptInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, key.data(), bytes_of(*bytes)) == 1 &&
                    EVP_DecryptUpdate(cipher.get(), nullptr, &written, bytes_of(context), size_of(context)) == 1 &&
                    EVP_DecryptUpdate(cipher.get(), bytes_of(text), &written, bytes_of(hidden), size_of(hidden)) == 1 &&
                    EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_GCM_SET_TAG, static_cast<int>(tag_size),
                                        bytes_of(*bytes, nonce_size + size)) == 1 &&
                    EVP_DecryptFinal_ex(cipher.get(), bytes_of(text, size), &written) == 1;
  if (!good) return std::nullopt;
  return text;
}

}  // namespace switchgear::protocol
