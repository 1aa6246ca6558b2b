#include "listen/session_keys.hpp"

#include <openssl/rand.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace switchgear::listen {

namespace {

using key_bytes = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

std::string text_of(const key_bytes& key) {
  return {reinterpret_cast<const char*>(key.data()), key.size()};
}

std::string first_key(std::string_view configured) {
  key_bytes key;
  if (!configured.empty()) {
    SHA256(reinterpret_cast<const unsigned char*>(configured.data()), configured.size(), key.data());
  } else if (RAND_bytes(key.data(), static_cast<int>(key.size())) != 1) {
    throw std::runtime_error("no random bytes for a session key");
  }
  return text_of(key);
}

}  // namespace

session_keys::session_keys(std::string_view configured) : configured_(!configured.empty()) {
  keys_.push_back(first_key(configured));
}

void session_keys::use(std::string_view key) {
  if (configured_) return;
  const std::lock_guard lock(mutex_);
  from_fleet_ = true;
  if (keys_.front() == key) return;
  std::erase(keys_, key);
  keys_.emplace_front(key);
  if (keys_.size() > kept) keys_.pop_back();
}

bool session_keys::shared() const {
  const std::lock_guard lock(mutex_);
  return configured_ || from_fleet_;
}

std::optional<std::string> session_keys::seal(const session_facts& facts) const {
  session_salt salt;
  if (RAND_bytes(salt.data(), static_cast<int>(salt.size())) != 1) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return seal_session(facts, salt, keys_.front());
}

std::optional<session_facts> session_keys::open(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  for (const std::string& key : keys_) {
    if (auto facts = open_session(id, key)) return facts;
  }
  return std::nullopt;
}

}  // namespace switchgear::listen
