// Two tries at once, when the first takes longer than usual.
#pragma once

#include "call/attempt.hpp"
#include "call/relay.hpp"

#include <boost/asio/awaitable.hpp>

namespace switchgear::call {

/// As try_in_rounds. When the target has a latency_record and the first try is slower than nearly all before it, a
/// second one begins beside it, for which a retry's budget is taken and the breakers are closed. The first answer
/// counts, and the other try is cancelled as a client cancels. None begins in a dialogue with the client. When this
/// completes, both have ended.
boost::asio::awaitable<void> try_hedged(attempt_context& given, relay* client, attempt& done);

}  // namespace switchgear::call
