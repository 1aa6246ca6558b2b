// Answers in the client's era.
#pragma once

#include "port/call_handler.hpp"
#include "port/upstream.hpp"

#include <string>
#include <string_view>

namespace switchgear::call {

/// The upstream's own response, which `reply` has: its bytes but for what must differ. `request_state` (raw) takes the
/// place of the upstream's; empty: it stays.
void respond(const port::incoming_call& call, port::reply& reply, std::string request_state, port::answer& out);

/// A result of our own (JSON, written as legacy ones are).
void respond(const port::incoming_call& call, std::string result, port::answer& out);

}  // namespace switchgear::call
