// One try of one tool: permit, call, classify, settle. The primary and every tool step go through here.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "breaker/permit.hpp"
#include "call/classify.hpp"
#include "call/directory.hpp"
#include "port/breakers.hpp"
#include "port/upstream.hpp"

#include <boost/asio/awaitable.hpp>

namespace switchgear::call {

/// How it went.
struct attempt {
  meaning what;
  bool refused = false;
  bool held_back = false;                       ///< not made: the tool has asked for a pause
  breaker::refusal refusal;                     ///< when refused
  port::reply reply;                            ///< when not
  bool acted_before = false;                    ///< an earlier try of the same call may have taken effect
  bool hedged = false;                          ///< a second try ran beside it
  unsigned tries = 1;                           ///< how often it was made, when it was more than one try
  cascade::timer timer = cascade::timer::none;  ///< which limit ended it, when one did
  bool slow = false;                            ///< over the tool's p99 limit
  duration took{};                              ///< of the upstream's part, without the wait for a probe's place
  time_point ended{};

  /// The server says itself that it did nothing with the call: HTTP 429.
  bool declined() const { return reply.status == 429; }
  /// A byte may have reached an upstream whose tool is neither read-only nor idempotent.
  bool acted(const tool& tried) const { return acted_before || (reply.sent && !tried.repeatable && !declined()); }
};

/// What it takes. All of it outlives the attempt.
struct attempt_context {
  async::worker& on;
  port::breakers& breakers;
  async::interrupt& whole;  ///< of the whole call: its deadline holds for this attempt too
  const tool& target;
  port::outgoing_request outgoing;
  port::client_side* client = nullptr;
  time_point started{};
  time_point until = time_point::max();  ///< an earlier end than the call's deadline
  bool keyed = false;     ///< it carries an idempotency key: the tool does it once, however often it is sent
  bool may_wait = false;  ///< for a probe's place, when the breaker says that it is worth it
};

/// Ends an attempt at which nothing runs any more, for the reason for which the call was interrupted.
void end_interrupted(const async::interrupt& raised, time_point now, attempt& done);

/// Fills `done`, which is new and outlives the attempt (it is large, and on its way back it would be moved from frame
/// to frame). The permit is settled exactly once on every way out, exceptions and destruction included.
boost::asio::awaitable<void> try_tool(attempt_context& given, attempt& done);

}  // namespace switchgear::call
