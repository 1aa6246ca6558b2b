#include "call/attempt.hpp"

#include "async/chain.hpp"
#include "call/pauses.hpp"
#include "call/running_call.hpp"
#include "call/slots.hpp"

#include <algorithm>
#include <utility>

namespace switchgear::call {
namespace {

breaker::admission acquire(const attempt_context& given) {
  return breaker::acquire(*given.target.gate, *given.target.server_gate, given.on.index, given.started);
}

bool worth_waiting(const attempt_context& given, const breaker::admission& asked) {
  return given.may_wait && asked.refusal().probe_wait > duration::zero();
}

/// The moments at which an attempt ends, whoever set them.
struct ends {
  time_point deadline, total, lease;

  time_point first() const { return std::min({deadline, total, lease}); }
  cascade::timer name() const {
    if (deadline <= std::min(total, lease)) return cascade::timer::deadline;
    return total <= lease ? cascade::timer::total : cascade::timer::probe;
  }
};

cascade::timer fired(const async::interrupt& raised, const port::reply& reply, const ends& limits) {
  if (reply.fault == port::fault::connect_timed_out) return cascade::timer::connect;
  if (raised.why() != async::interrupt::reason::deadline || reply.has_message) return cascade::timer::none;
  if (!raised.silent()) return limits.name();
  return raised.has_heard() ? cascade::timer::idle : cascade::timer::first_byte;
}

// The tool has said when it wants calls again: nothing is sent, and no breaker hears of it.
bool held_back(const attempt_context& given, attempt& done) {
  const tool& target = given.target;
  if (target.pause == nullptr) return false;
  const std::string_view credential = credential_of(target, given.outgoing.client);
  if (target.pause->left(credential, given.started) == duration::zero()) return false;
  const time_point now = async::worker::now();  // it may have begun since the call came
  const duration left = target.pause->left(credential, now);
  if (left == duration::zero()) return false;
  done.what = {{}, {}, cascade::ending::throttled, cascade::reason::throttled};
  done.reply.retry_after = left;
  done.reply.detail = "it has asked for a pause";
  done.held_back = true;
  done.ended = now;
  return true;
}

void take_pause(const attempt_context& given, attempt& done) {
  const tool& target = given.target;
  const duration length = cascade::pause_length(done.reply.retry_after);
  done.reply.retry_after = length;
  if (target.pause != nullptr) {
    target.pause->begin(credential_of(target, given.outgoing.client), length, done.ended);
  }
}

}  // namespace

void end_interrupted(const async::interrupt& raised, time_point now, attempt& done) {
  const bool late = raised.why() == async::interrupt::reason::deadline;
  done.what = late ? meaning{{}, {}, cascade::ending::timed_out, cascade::reason::timeout}
                   : meaning{{}, {}, cascade::ending::cancelled, cascade::reason::none};
  done.timer = late ? cascade::timer::deadline : cascade::timer::none;
  done.ended = now;
}

boost::asio::awaitable<void> try_tool(attempt_context& given, attempt& done) {
  const tool& target = given.target;
  if (held_back(given, done)) co_return;
  breaker::admission admission = acquire(given);
  if (!admission && worth_waiting(given, admission)) {
    const time_point until = std::min(given.started + admission.refusal().probe_wait, given.whole.deadline());
    co_await given.breakers.probe(given.on, *admission.refusal().gate, until);
    given.started = async::worker::now();
    if (held_back(given, done)) co_return;
    admission = acquire(given);
  }
  slots held;
  if (admission && target.limited()) {
    if (admission.permit().probe()) {
      held.force(target);
    } else if (!held.take(given)) {
      // No permit while it waits: the breaker may open meanwhile, and then nothing is sent.
      admission.permit().give_back();
      if (!co_await held.wait(given, done) || held_back(given, done)) co_return;
      admission = acquire(given);
    }
  }
  if (!admission) {
    done.refused = true;
    done.refusal = admission.refusal();
    done.what = {{}, {}, cascade::ending::refused, cascade::reason::open};
    done.ended = given.started;
    co_return;
  }
  running_call call{std::move(admission.permit()), given.breakers};
  if (given.whole.raised()) {
    call.permit.give_back();
    end_interrupted(given.whole, given.started, done);
    co_return;
  }

  // A probe must be settled while its lease runs, so an attempt may have to end earlier than its call; with an
  // interrupt of its own it leaves the call's untouched, and the cascade can go on.
  async::interrupt interrupt(given.on.timers);
  const async::chain chained(given.whole, interrupt);
  const duration slow_after = call.permit.slow_after();
  const port::timeouts& limits = target.policy.timeout;
  const ends end{std::min(given.whole.deadline(), given.until),
                 limits.total > duration::zero() ? given.started + limits.total : time_point::max(),
                 call.permit.lease_deadline()};
  interrupt.arm(end.first(), slow_after > duration::zero() ? given.started + slow_after : time_point::max(),
                &running_call::passed_limit, &call);
  interrupt.limit_silence({limits.first_byte, limits.idle, limits.progress_extends}, given.started);
  given.outgoing.repeatable = target.repeatable || given.keyed;
  done.reply = co_await target.upstream->call(given.on, given.outgoing, interrupt, given.client);
  done.ended = async::worker::now();
  done.timer = fired(interrupt, done.reply, end);

  done.what = classify(done.reply, target.policy, call.permit.tool_probe());
  done.took = done.ended - given.started - interrupt.paused();
  const duration server_limit = target.server_gate->slow_after();
  done.slow = over(done.took, slow_after);
  done.what.tool.slow = slow_after > duration::zero() && (done.what.tool.slow || done.slow);
  done.what.server.slow = server_limit > duration::zero() && (done.what.server.slow || over(done.took, server_limit));
  call.settle(done.what, done.took);
  if (done.what.how == cascade::ending::throttled) take_pause(given, done);
  if (target.limited()) held.tell(done);
}

}  // namespace switchgear::call
