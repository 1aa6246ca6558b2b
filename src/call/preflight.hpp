// What a request is checked for before anything is tried, and what it takes along.
#pragma once

#include "call/directory.hpp"
#include "call/states.hpp"
#include "port/call_handler.hpp"

#include <string>

namespace switchgear::call {

/// A JSON-RPC error for what nobody knows: a tool, a prompt, a resource.
void refuse_unknown(const port::incoming_call& call, port::answer& out);

/// False, with the answer in `out`, if a modern client's headers do not say what its arguments say
/// (MCP 2026-07-28 basic/transports/streamable-http "Server Validation").
bool check_headers(const port::incoming_call& call, const tool& called, port::answer& out);

/// How long the caller will wait, if it says so: params._meta["dev.switchgear/timeout_ms"], or the header that Envoy
/// writes, x-envoy-expected-rq-timeout-ms. It can shorten `length`, not lengthen it. False, with the answer in `out`,
/// if the member is no whole number of at least 1; a header that is none means nothing.
bool shorten(const port::incoming_call& call, duration& length, port::answer& out);

/// What was begun in an earlier request of the same client.
struct opened {
  std::string inner;  ///< the server's own state, a raw token; empty: there is none
};

/// False, with the answer in `out`, if the request carries a state that is not ours, not for it, or too old.
bool open_state(const port::incoming_call& call, const tool& called, const states& sealed, opened& begun,
                port::answer& out);

/// The state of a reply that asks for input, sealed for its way through the client: a raw token, or empty if there is
/// none.
std::string sealed_state(const port::incoming_call& call, const tool& called, const states& sealed,
                         const port::reply& reply);

/// Header lines of the arguments that a modern server wants to see in them.
std::string mirrored_lines(const port::incoming_call& call, const tool& called);

}  // namespace switchgear::call
