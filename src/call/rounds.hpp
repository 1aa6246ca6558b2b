// An attempt in rounds: a modern server asks its client by its answer, and gets the request again with what the client
// said. Legacy clients are asked as legacy servers ask. Source: MCP 2026-07-28 basic/patterns/mrtr.
#pragma once

#include "call/attempt.hpp"
#include "call/relay.hpp"

#include <boost/asio/awaitable.hpp>

namespace switchgear::call {

/// Whether the reply is a question (resultType input_required) and not an answer.
bool asks_for_input(const port::reply& reply);

/// Whether the request goes on with what was begun before: its client answers what a server asked.
bool continues(const port::incoming_call& call);

/// As try_tool, and again with the client's answers as long as the server asks a legacy client something, which is at
/// most ten times. A modern client gets the question itself. When the client cannot or does not answer, the attempt has
/// failed, and the reply's detail says of what. `client` is the relay in `given`, or null.
boost::asio::awaitable<void> try_in_rounds(attempt_context& given, relay* client, attempt& done);

}  // namespace switchgear::call
