// The requestState of a call that asks for more input, on its way through a client and back: it names the upstream that
// asked, so that any replica takes the retry there, and nothing but that retry opens it.
// Source: MCP 2026-07-28 basic/patterns/mrtr.
#pragma once

#include "base/result.hpp"
#include "protocol/seal.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace switchgear::protocol {

/// Whose state it is. A state that was sealed for one request opens for no other.
struct state_owner {
  std::string_view method;     ///< tools/call, prompts/get or resources/read
  std::string_view name;       ///< the tool's, the prompt's or the resource's, as the client knows it
  std::string_view principal;  ///< who calls
};

struct pinned_state {
  std::string upstream;              ///< alias of the upstream that asked; at most 255 bytes
  std::chrono::sys_seconds expires;  ///< by the wall clock, which replicas share about
  std::string inner;                 ///< the upstream's own requestState, a raw JSON token; empty: it gave none
};

/// A text of [A-Za-z0-9_-], some 80 bytes and a third longer than what it holds.
std::string seal_state(const seal_key& key, const seal_nonce& nonce, const state_owner& owner,
                       const pinned_state& state);

/// Errors: errc::bad_state when it was not sealed with this key for this owner, or was changed since; errc::expired.
result<pinned_state> open_state(const seal_key& key, const state_owner& owner, std::string_view sealed,
                                std::chrono::sys_seconds now);

}  // namespace switchgear::protocol
