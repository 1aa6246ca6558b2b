#include "call/errand.hpp"

#include "call/explain.hpp"
#include "call/rounds.hpp"
#include "cascade/stand_in.hpp"
#include "protocol/errors.hpp"

#include <optional>
#include <string>

namespace switchgear::call {

namespace {

using cascade::reason;
namespace code = protocol::code;

std::int64_t code_of(const attempt& done, bool shutting_down) {
  using port::fault;
  if (shutting_down) return code::overloaded;
  if (done.reply.fault == fault::too_large) return code::too_large;
  if (done.reply.fault == fault::lost && done.reply.sent) return code::outcome_unknown;
  switch (done.what.reason) {
    case reason::open:
      return code::open;
    case reason::timeout:
      return code::deadline;
    case reason::overloaded:
      return code::overloaded;
    case reason::unreachable:
      return code::unreachable;
    case reason::denied:
      return code::denied;
    case reason::throttled:
      return code::throttled;
    default:
      return code::internal_error;
  }
}

void explain_failure(const errand& what, const attempt& done, port::answer& out) {
  cascade::machine nothing_else(what.target.policy.fallback, what.target.entry->name, what.interrupt.deadline());
  nothing_else.on({done.what.how, done.what.reason, false, false}, done.ended);
  const bool shutting_down = what.interrupt.why() == async::interrupt::reason::shutdown;
  const standing how{what.target,  nothing_else, done, done.ended, what.interrupt.deadline() - what.call.arrived,
                     shutting_down};
  const cascade::marker marker = mark(how, cascade::served_by::none);
  const std::string data = R"({")" + std::string(cascade::marker_key) + R"(":)" + cascade::to_json(marker) + "}";
  out.retry_after = in_seconds(marker.retry_after);
  out.text =
      protocol::write_error(what.call.seen->id.in(what.call.text), code_of(done, shutting_down), explain(how), data);
  out.degraded = true;
  out.pieces.push_back(out.text);
}

}  // namespace

boost::asio::awaitable<void> run_errand(const errand& what, attempt& done, port::answer& out) {
  relay way_back({.on = what.on,
                  .sink = what.client,
                  .who = what.call.client,
                  .token = what.call.seen->progress_token.in(what.call.text),
                  .whole = what.interrupt,
                  .patience = what.target.policy.patience});
  attempt_context given{.on = what.on,
                        .breakers = what.breakers,
                        .whole = what.interrupt,
                        .target = what.target,
                        .outgoing = {.text = what.call.text,
                                     .seen = what.call.seen,
                                     .target = what.original,
                                     .client = what.call.client,
                                     .mirrored = {},
                                     .request_state = what.request_state,
                                     .input_responses = {}},
                        .client = &way_back,
                        .started = what.call.arrived,
                        .may_wait = true};
  co_await try_in_rounds(given, &way_back, done);
  what.interrupt.disarm();
  if (!done.reply.has_message) explain_failure(what, done, out);
}

}  // namespace switchgear::call
