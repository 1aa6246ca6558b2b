#include "call/service.hpp"

#include "call/course.hpp"
#include "call/damping.hpp"
#include "call/errand.hpp"
#include "call/preflight.hpp"
#include "call/respond.hpp"
#include "protocol/results.hpp"

#include <string>
#include <utility>

namespace switchgear::call {

boost::asio::awaitable<void> service::call(async::worker& on, const port::incoming_call& call,
                                           async::interrupt& interrupt, port::event_sink* client, port::answer& out) {
  if (call.seen->method == "tools/call") {
    co_await call_tool(on, call, interrupt, client, out);
    co_return;
  }
  const std::shared_ptr<const directory> known = directory_;
  const protocol::message& seen = *call.seen;
  destination where;
  if (seen.method == "prompts/get") {
    where = known->find_prompt(seen.name_text);
  } else if (seen.method == "completion/complete") {
    where = known->find_completion(seen.name_text, seen.uri_text);
  } else {
    where = known->find_resource(seen.uri_text);
  }
  // A modern server knows no subscription of a resource by itself: it is watched along with everything else.
  const bool is_watched = seen.method.ends_with("subscribe") && where.through != nullptr &&
                          where.through->upstream->era() == protocol::era::modern;
  if (is_watched) {
    respond(call, std::string(protocol::empty_result), out);
  } else if (where.through != nullptr) {
    co_await run(on, call, where, interrupt, client, out);
  } else {
    refuse_unknown(call, out);
  }
}

boost::asio::awaitable<void> service::call_tool(async::worker& on, const port::incoming_call& call,
                                                async::interrupt& interrupt, port::event_sink* client,
                                                port::answer& out) {
  const std::shared_ptr<const directory> known = directory_;
  const tool* called = known->find(call.seen->name_text);
  if (called == nullptr) {
    recorder_.refused(on.index, port::refusal::unknown_tool);
    refuse_unknown(call, out);
    co_return;
  }
  opened begun;
  duration allowed = called->policy.deadline;
  if (!check_headers(call, *called, out) || !shorten(call, allowed, out) ||
      !open_state(call, *called, states_, begun, out)) {
    recorder_.refused(on.index, port::refusal::bad_request);
    co_return;
  }
  const damping loop(*called, call);
  if (loop.stops(out)) {
    const duration took = async::worker::now() - call.arrived;
    recorder_.call_finished(
        on.index,
        {.tool = called->slot, .served_by = cascade::served_by::none, .is_error = true, .damped = true, .took = took});
    co_return;
  }
  interrupt.arm(call.arrived + allowed);
  const equipment with{breakers_, recorder_, answers_, states_, random_, keys_};
  course its(with, on, call, interrupt, *called, begun, out);
  co_await its.run(client);
  interrupt.disarm();  // the deadline is the answer's, not that of sending it
  loop.ended(its.primary(), out);
}

boost::asio::awaitable<void> service::run(async::worker& on, const port::incoming_call& call, const destination& where,
                                          async::interrupt& interrupt, port::event_sink* client, port::answer& out) {
  opened begun;
  duration allowed = where.through->policy.deadline;
  if (!shorten(call, allowed, out) || !open_state(call, *where.through, states_, begun, out)) {
    recorder_.refused(on.index, port::refusal::bad_request);
    co_return;
  }
  interrupt.arm(call.arrived + allowed);
  const errand what{on, breakers_, call, interrupt, client, *where.through, where.target, begun.inner};
  attempt done;
  co_await run_errand(what, done, out);
  if (done.reply.has_message) {
    std::string state = sealed_state(call, *where.through, states_, done.reply);
    respond(call, done.reply, std::move(state), out);
    if (done.what.how == cascade::ending::throttled) out.retry_after = in_seconds(done.reply.retry_after);
  }
}

}  // namespace switchgear::call
