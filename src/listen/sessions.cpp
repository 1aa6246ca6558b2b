#include "listen/sessions.hpp"

#include "protocol/version.hpp"

#include <openssl/rand.h>

#include <algorithm>
#include <array>

namespace switchgear::listen {

namespace {

std::optional<std::string> random_id() {
  std::array<unsigned char, 16> bytes;
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return std::nullopt;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string id;
  for (unsigned char byte : bytes) {
    id += digits[byte >> 4];
    id += digits[byte & 15];
  }
  return id;
}

}  // namespace

std::optional<std::string> sessions::create(std::string_view version, time_point now) {
  if (count() >= most_) sweep(now);
  if (count() >= most_) return std::nullopt;
  std::optional<std::string> id = random_id();
  if (!id) return std::nullopt;
  shard& home = shard_of(*id);
  const std::lock_guard lock(home.mutex);
  home.live.emplace(*id, session{protocol::negotiate(version), now});
  return id;
}

std::optional<std::string_view> sessions::find(std::string_view id, time_point now) {
  shard& home = shard_of(id);
  const std::lock_guard lock(home.mutex);
  const auto found = home.live.find(id);
  if (found == home.live.end()) return std::nullopt;
  if (now - found->second.used > idle_) {
    home.live.erase(found);
    return std::nullopt;
  }
  found->second.used = std::max(found->second.used, now);
  return found->second.version;
}

bool sessions::end(std::string_view id) {
  shard& home = shard_of(id);
  const std::lock_guard lock(home.mutex);
  const auto found = home.live.find(id);
  if (found == home.live.end()) return false;
  home.live.erase(found);
  return true;
}

void sessions::sweep(time_point now) {
  for (shard& one : shards_) {
    const std::lock_guard lock(one.mutex);
    std::erase_if(one.live, [&](const auto& entry) { return now - entry.second.used > idle_; });
  }
}

std::size_t sessions::count() const {
  std::size_t sum = 0;
  for (const shard& one : shards_) {
    const std::lock_guard lock(one.mutex);
    sum += one.live.size();
  }
  return sum;
}

}  // namespace switchgear::listen
