#include "call/service.hpp"

#include "call/errand.hpp"
#include "call/explain.hpp"
#include "call/preflight.hpp"
#include "call/question.hpp"
#include "call/respond.hpp"
#include "call/retries.hpp"
#include "call/rounds.hpp"
#include "call/step_request.hpp"
#include "cascade/stand_in.hpp"
#include "cascade/wording.hpp"
#include "protocol/errors.hpp"
#include "protocol/results.hpp"
#include "protocol/text.hpp"

#include <optional>
#include <string>
#include <utility>

namespace switchgear::call {
namespace {

using cascade::ending;
using cascade::served_by;
using verb = cascade::action::verb;

/// A result that may stand in, and what keeps it alive.
struct found_answer {
  std::string_view result;
  served_by who = served_by::none;
  std::optional<duration> age;
  std::shared_ptr<const std::string> stored;  // of a cache step
  buffer body;                                // of a tool step
};

cascade::event event_of(const attempt& tried, const tool& target, bool in_dialogue) {
  const bool presentable = tried.reply.has_message && tried.reply.message.error;
  return {tried.what.how, tried.what.reason, tried.acted(target), presentable, in_dialogue, tried.tries};
}

/// The request goes on with what was begun before: its client answers what a server asked.
bool continues(const port::incoming_call& call) {
  return call.seen->input_responses || call.seen->request_state;
}

}  // namespace

/// One call on its way. Lives in the frame of service::call.
class course {
 public:
  course(service& owner, async::worker& on, const port::incoming_call& call, async::interrupt& interrupt,
         const tool& called, const opened& begun, port::answer& out)
      : service_(owner),
        on_(on),
        call_(call),
        interrupt_(interrupt),
        called_(called),
        begun_(begun),
        out_(out),
        machine_(called.policy.fallback, called.entry->name, interrupt.deadline()) {}

  boost::asio::awaitable<void> run(port::event_sink* client);

 private:
  boost::asio::awaitable<cascade::event> try_step(std::size_t number);
  cascade::event look_in_cache(const cascade::cache_step& step);
  boost::asio::awaitable<cascade::event> call_other_tool(const prepared_step& step);
  cascade::event take_fixed(const prepared_step& step);

  void pass_on();
  void stand_in();
  void fail();
  void store_answer();
  void give(std::string result);
  void record(served_by who, bool is_error);
  const std::optional<cascade::answer_key>& key();
  standing now_standing() const;

  service& service_;
  async::worker& on_;
  const port::incoming_call& call_;
  async::interrupt& interrupt_;
  const tool& called_;
  const opened& begun_;
  port::answer& out_;
  cascade::machine machine_;
  attempt primary_;
  found_answer found_;
  std::optional<std::optional<cascade::answer_key>> key_;  // made when first needed
  time_point now_{};
  bool in_dialogue_ = false;
};

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
  if (!check_headers(call, *called, out) || !open_state(call, *called, states_, begun, out)) {
    recorder_.refused(on.index, port::refusal::bad_request);
    co_return;
  }
  interrupt.arm(call.arrived + called->policy.deadline);
  co_await course(*this, on, call, interrupt, *called, begun, out).run(client);
  interrupt.disarm();  // the deadline is the answer's, not that of sending it
}

boost::asio::awaitable<void> service::run(async::worker& on, const port::incoming_call& call, const destination& where,
                                          async::interrupt& interrupt, port::event_sink* client, port::answer& out) {
  opened begun;
  if (!open_state(call, *where.through, states_, begun, out)) {
    recorder_.refused(on.index, port::refusal::bad_request);
    co_return;
  }
  const errand what{on, breakers_, call, interrupt, client, *where.through, where.target, begun.inner};
  attempt done;
  co_await run_errand(what, done, out);
  if (done.reply.has_message) {
    std::string state = sealed_state(call, *where.through, states_, done.reply);
    respond(call, done.reply, std::move(state), out);
  }
}

boost::asio::awaitable<void> course::run(port::event_sink* client) {
  relay way_back({.on = on_,
                  .sink = client,
                  .who = call_.client,
                  .token = call_.seen->progress_token.in(call_.text),
                  .whole = interrupt_,
                  .patience = called_.policy.patience});
  const std::string mirrored = mirrored_lines(call_, called_);
  attempt_context given{.on = on_,
                        .breakers = service_.breakers_,
                        .whole = interrupt_,
                        .target = called_,
                        .outgoing = {.text = call_.text,
                                     .seen = call_.seen,
                                     .target = called_.entry->original,
                                     .client = call_.client,
                                     .mirrored = mirrored,
                                     .request_state = begun_.inner},
                        .client = &way_back,
                        .started = call_.arrived,
                        .may_wait = true};
  co_await try_with_retries(given, &way_back, service_.random_, primary_);
  now_ = primary_.ended;
  in_dialogue_ = way_back.asked() || continues(call_) || asks_for_input(primary_.reply);

  cascade::action next = machine_.on(event_of(primary_, called_, in_dialogue_), now_);
  while (next.what == verb::try_step) {
    const cascade::event ended = co_await try_step(next.step);
    next = machine_.on(ended, now_);
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

boost::asio::awaitable<cascade::event> course::try_step(std::size_t number) {
  const cascade::step& step = called_.policy.fallback.steps[number];
  if (const auto* cache = std::get_if<cascade::cache_step>(&step)) co_return look_in_cache(*cache);
  const prepared_step& prepared = called_.steps[number];
  if (std::holds_alternative<cascade::tool_step>(step)) co_return co_await call_other_tool(prepared);
  co_return take_fixed(prepared);
}

cascade::event course::look_in_cache(const cascade::cache_step& step) {
  if (!called_.uses_cache || !key()) return {ending::miss};
  auto hit = service_.answers_.find(*key(), now_, step.max_age);
  if (!hit) return {ending::miss};
  found_.stored = std::move(hit->result);
  found_.result = *found_.stored;
  found_.age = hit->age;
  found_.who = served_by::cache;
  return {ending::hit};
}

// Its progress is not relayed: the client may have seen the primary's, and progress must not go back.
boost::asio::awaitable<cascade::event> course::call_other_tool(const prepared_step& step) {
  if (step.target == nullptr) co_return cascade::event{ending::unreachable};
  const std::string_view original = step.target->entry->original;
  step_request request;
  port::outgoing_request outgoing{.text = call_.text, .seen = call_.seen, .target = original, .client = call_.client};
  if (step.arguments) {
    if (request.build(call_, *step.arguments)) co_return cascade::event{ending::no_argument};
    outgoing = request.outgoing(original, call_.client);
  }
  attempt_context given{.on = on_,
                        .breakers = service_.breakers_,
                        .whole = interrupt_,
                        .target = *step.target,
                        .outgoing = outgoing,
                        .started = now_};
  attempt tried;
  co_await try_with_retries(given, nullptr, service_.random_, tried);
  now_ = tried.ended;
  cascade::event ended = event_of(tried, *step.target, false);
  if (tried.what.how != ending::answered) co_return ended;

  const protocol::message& message = tried.reply.message;
  if (!message.result || message.is_error || asks_for_input(tried.reply)) {
    ended.how = ending::failed;
    co_return ended;
  }
  found_.body = std::move(tried.reply.body);
  if (!called_.accepts(message.structured_content.in(found_.body.view()))) {
    ended.how = ending::unfit;
    co_return ended;
  }
  found_.result = message.result.in(found_.body.view());
  found_.who = served_by::tool;
  ended.how = ending::hit;
  co_return ended;
}

cascade::event course::take_fixed(const prepared_step& step) {
  if (step.result.empty()) return {ending::unfit};
  found_.result = step.result;
  found_.who = served_by::fixed;
  return {ending::hit};
}

/// The primary's bytes, with the client's id in the place of ours.
void course::pass_on() {
  const bool is_error = primary_.reply.message.is_error;
  if (called_.uses_cache) store_answer();
  std::string state = sealed_state(call_, called_, service_.states_, primary_.reply);
  respond(call_, primary_.reply, std::move(state), out_);
  record(served_by::primary, is_error);
}

void course::store_answer() {
  const protocol::message& message = primary_.reply.message;
  const std::string_view result = message.result.in(primary_.reply.body.view());
  const bool good = primary_.what.how == ending::answered && !result.empty();
  if (!cascade::cacheable({called_.read_only, good, message.is_error, in_dialogue_})) return;
  if (key()) service_.answers_.store(*key(), result, now_);
}

void course::stand_in() {
  cascade::marker marker = mark(now_standing(), found_.who);
  marker.age = found_.age;
  const std::string note = called_.policy.note ? cascade::note(called_.entry->name, marker) : std::string();
  auto result = cascade::marked(found_.result, marker, note);
  if (!result) return fail();
  give(std::move(*result));
  record(found_.who, false);
}

void course::fail() {
  const standing how = now_standing();
  give(cascade::failure_result(explain(how), mark(how, served_by::none)));
  record(served_by::none, true);
}

void course::give(std::string result) {
  out_.degraded = true;
  respond(call_, std::move(result), out_);
}

void course::record(served_by who, bool is_error) {
  service_.recorder_.call_finished(on_.index, {.tool = called_.slot,
                                               .served_by = who,
                                               .reason = machine_.reason(),
                                               .is_error = is_error,
                                               .refused = primary_.refused,
                                               .slow = primary_.slow,
                                               .retries = primary_.tries - 1,
                                               .took = now_ - call_.arrived});
}

const std::optional<cascade::answer_key>& course::key() {
  if (!key_) key_.emplace(question(called_, call_));
  return *key_;
}

standing course::now_standing() const {
  return {called_, machine_, primary_, now_, interrupt_.why() == async::interrupt::reason::shutdown};
}

}  // namespace switchgear::call
