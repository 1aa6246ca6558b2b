#include "call/states.hpp"

#include "protocol/errc.hpp"
#include "protocol/text.hpp"

#include <chrono>

namespace switchgear::call {

namespace {

std::chrono::sys_seconds now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace

void states::use(std::string_view secret) {
  const protocol::seal_key made = protocol::derived_key(secret, "switchgear request state");
  const std::lock_guard lock(mutex_);
  if (made == keys_[0]) return;
  keys_[1] = keys_[0];
  keys_[0] = made;
}

std::optional<std::string> states::seal(const protocol::state_owner& owner, std::string_view upstream,
                                        std::string_view inner) const {
  const auto nonce = fresh_nonce_();
  if (!nonce) return std::nullopt;
  const protocol::pinned_state state{std::string(upstream), now() + lasts, std::string(inner)};
  const std::lock_guard lock(mutex_);
  return '"' + protocol::seal_state(keys_[0], *nonce, owner, state) + '"';
}

result<protocol::pinned_state> states::open(const protocol::state_owner& owner, std::string_view token) const {
  const auto sealed = protocol::unquoted(token);
  if (!sealed) return protocol::errc::bad_state;
  const std::lock_guard lock(mutex_);
  auto opened = protocol::open_state(keys_[0], owner, *sealed, now());
  return opened || opened.error() != protocol::errc::bad_state ? opened
                                                               : protocol::open_state(keys_[1], owner, *sealed, now());
}

}  // namespace switchgear::call
