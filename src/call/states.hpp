// The states of servers that ask clients for input, sealed on their way through the client.
// Source: MCP 2026-07-28 basic/patterns/mrtr.
#pragma once

#include "protocol/sealed_state.hpp"

#include <array>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace switchgear::call {

/// One for all workers; thread-safe. A client sees nothing of a server's state, cannot change it, and cannot use it for
/// another request, and the retry goes to the server that asked whatever replica it reaches.
class states {
 public:
  /// A nonce that has never been given before; nothing if the system has no randomness. Any thread.
  using nonces = std::function<std::optional<protocol::seal_nonce>()>;

  /// Sealed with `own` until it is given a secret.
  states(const protocol::seal_key& own, nonces fresh_nonce) : fresh_nonce_(std::move(fresh_nonce)), keys_{own, own} {}

  /// From now on the key is made of this secret; what was sealed with the one before can still be opened.
  void use(std::string_view secret);

  /// `inner` is the server's requestState, a raw token; the result is one too. Nothing if the system has no randomness.
  std::optional<std::string> seal(const protocol::state_owner& owner, std::string_view upstream,
                                  std::string_view inner) const;

  /// `token` is what the client gave, raw. Errors: bad_state, expired.
  result<protocol::pinned_state> open(const protocol::state_owner& owner, std::string_view token) const;

  /// How long a person may take to answer.
  static constexpr std::chrono::hours lasts{24};

 private:
  const nonces fresh_nonce_;
  mutable std::mutex mutex_;
  std::array<protocol::seal_key, 2> keys_;  // newest first
};

}  // namespace switchgear::call
