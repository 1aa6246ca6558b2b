// An attempt, and as many more at the same target as its policy and its server's retry budget allow.
#pragma once

#include "call/attempt.hpp"
#include "call/relay.hpp"

#include <boost/asio/awaitable.hpp>

#include <random>

namespace switchgear::call {

/// As try_in_rounds, and again after a pause when that failed and cascade::pause_before_retry says so. Each try has a
/// permit of its own; a retry that the breaker refuses leaves the failure before it as the outcome. What the client was
/// asked on the way is not asked again: such an attempt is final. Ends with the whole call's deadline or cancellation.
boost::asio::awaitable<void> try_with_retries(attempt_context& given, relay* client, std::minstd_rand& random,
                                              attempt& done);

}  // namespace switchgear::call
