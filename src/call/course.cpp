#include "call/course.hpp"

#include "call/idempotency.hpp"
#include "call/respond.hpp"
#include "call/retries.hpp"
#include "call/rounds.hpp"
#include "call/stored.hpp"
#include "cascade/stand_in.hpp"
#include "cascade/wording.hpp"

#include <optional>
#include <utility>

namespace switchgear::call {
namespace {

using cascade::served_by;
using verb = cascade::action::verb;

}  // namespace

boost::asio::awaitable<void> course::run(port::event_sink* client) {
  if (called_.gives_fresh && give_fresh()) co_return;
  relay way_back({.on = on_,
                  .sink = client,
                  .who = call_.client,
                  .token = call_.seen->progress_token.in(call_.text),
                  .whole = interrupt_,
                  .patience = called_.policy.patience});
  const std::string mirrored = mirrored_lines(call_, called_);
  std::optional<keyed_request> keyed;
  const bool has_key = !called_.idempotency_key.empty() && keyed.emplace().make(call_, called_, with_.keys);
  attempt_context given{.on = on_,
                        .breakers = with_.breakers,
                        .whole = interrupt_,
                        .target = called_,
                        .outgoing = {.text = keyed ? keyed->text(call_) : call_.text,
                                     .seen = keyed ? keyed->seen(call_) : call_.seen,
                                     .target = called_.entry->original,
                                     .client = call_.client,
                                     .mirrored = mirrored,
                                     .request_state = begun_.inner},
                        .client = &way_back,
                        .started = call_.arrived,
                        .until = machine_.primary_deadline(call_.arrived, called_.repeatable),
                        .keyed = has_key,
                        .may_wait = true};
  co_await try_with_retries(given, &way_back, with_.random, primary_);
  step_.now = primary_.ended;
  in_dialogue_ = way_back.asked() || continues(call_) || asks_for_input(primary_.reply);

  cascade::action next = machine_.on(event_of(primary_, called_, in_dialogue_), step_.now);
  while (next.what == verb::try_step) {
    const cascade::event ended = co_await try_step(step_, next.step);
    next = machine_.on(ended, step_.now);
  }
  switch (next.what) {
    case verb::pass_on:
      pass_on();
      break;
    case verb::stand_in:
      stand_in();
      break;
    default:
      fail();
      break;
  }
}

/// Without a call, so that no breaker and no budget hears of it. False: there is nothing fresh, or the client goes on
/// with a dialogue.
bool course::give_fresh() {
  step_.now = async::worker::now();
  if (continues(call_) || !find_fresh(step_)) return false;
  auto result = cascade::marked(step_.found.result,
                                {.degraded = false, .served_by = served_by::cache, .age = step_.found.age}, {});
  if (!result) {
    step_.found = {};
    return false;
  }
  respond(call_, std::move(*result), out_);
  record(served_by::cache, false);
  return true;
}

/// The primary's bytes, with the client's id in the place of ours.
void course::pass_on() {
  const bool is_error = primary_.reply.message.is_error;
  if (called_.uses_cache) store_answer();
  std::string state = sealed_state(call_, called_, with_.sealed, primary_.reply);
  respond(call_, primary_.reply, std::move(state), out_);
  if (primary_.what.how == cascade::ending::throttled) out_.retry_after = in_seconds(primary_.reply.retry_after);
  record(served_by::primary, is_error);
}

void course::store_answer() {
  const protocol::message& message = primary_.reply.message;
  const std::string_view result = message.result.in(primary_.reply.body.view());
  const bool good = primary_.what.how == cascade::ending::answered && !result.empty();
  if (!cascade::cacheable({called_.read_only, good, message.is_error, in_dialogue_})) return;
  keep(step_, result);
}

void course::stand_in() {
  const found_answer& found = step_.found;
  cascade::marker marker = mark(now_standing(), found.who);
  marker.age = found.age;
  const std::string note = called_.policy.note ? cascade::note(called_.entry->name, marker) : std::string();
  auto result = cascade::marked(found.result, marker, note);
  if (!result) return fail();
  give(std::move(*result));
  record(found.who, false);
}

void course::fail() {
  const standing how = now_standing();
  const cascade::marker marker = mark(how, served_by::none);
  give(cascade::failure_result(explain(how), marker));
  out_.retry_after = in_seconds(marker.retry_after);
  record(served_by::none, true);
}

void course::give(std::string result) {
  out_.degraded = true;
  respond(call_, std::move(result), out_);
}

void course::record(served_by who, bool is_error) {
  with_.recorder.call_finished(on_.index, {.tool = called_.slot,
                                           .served_by = who,
                                           .reason = machine_.reason(),
                                           .is_error = is_error,
                                           .refused = primary_.refused,
                                           .slow = primary_.slow,
                                           .hedged = primary_.hedged,
                                           .retries = primary_.tries - 1,
                                           .stored = step_.looked,
                                           .took = step_.now - call_.arrived});
}

standing course::now_standing() const {
  return {called_,
          machine_,
          primary_,
          step_.now,
          interrupt_.deadline() - call_.arrived,
          interrupt_.why() == async::interrupt::reason::shutdown,
          step_.details};
}

}  // namespace switchgear::call
