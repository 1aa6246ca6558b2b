#include "call/steps.hpp"

#include "call/question.hpp"
#include "call/retries.hpp"
#include "call/rounds.hpp"
#include "call/step_request.hpp"

#include <utility>

namespace switchgear::call {
namespace {

using cascade::ending;
using cascade::served_by;

cascade::event look_in_cache(step_context& of, const cascade::cache_step& step) {
  if (!of.called.uses_cache || !of.key()) return {ending::miss};
  auto hit = of.with.answers.find(*of.key(), of.now, step.max_age);
  if (!hit) return {ending::miss};
  of.found.stored = std::move(hit->result);
  of.found.result = *of.found.stored;
  of.found.age = hit->age;
  of.found.who = served_by::cache;
  return {ending::hit};
}

// Its progress is not relayed: the client may have seen the primary's, and progress must not go back.
boost::asio::awaitable<cascade::event> call_other_tool(step_context& of, const prepared_step& step) {
  if (step.target == nullptr) co_return cascade::event{ending::unreachable};
  const port::incoming_call& call = of.call;
  const std::string_view original = step.target->entry->original;
  step_request request;
  port::outgoing_request outgoing{.text = call.text, .seen = call.seen, .target = original, .client = call.client};
  if (step.arguments) {
    if (request.build(call, *step.arguments)) co_return cascade::event{ending::no_argument};
    outgoing = request.outgoing(original, call.client);
  }
  attempt_context given{.on = of.on,
                        .breakers = of.with.breakers,
                        .whole = of.whole,
                        .target = *step.target,
                        .outgoing = outgoing,
                        .started = of.now};
  attempt tried;
  co_await try_with_retries(given, nullptr, of.with.random, tried);
  of.now = tried.ended;
  cascade::event ended = event_of(tried, *step.target, false);
  if (tried.what.how != ending::answered) co_return ended;

  const protocol::message& message = tried.reply.message;
  if (!message.result || message.is_error || asks_for_input(tried.reply)) {
    ended.how = ending::failed;
    co_return ended;
  }
  of.found.body = std::move(tried.reply.body);
  if (!of.called.accepts(message.structured_content.in(of.found.body.view()))) {
    ended.how = ending::unfit;
    co_return ended;
  }
  of.found.result = message.result.in(of.found.body.view());
  of.found.who = served_by::tool;
  ended.how = ending::hit;
  co_return ended;
}

cascade::event take_fixed(step_context& of, const prepared_step& step) {
  if (step.result.empty()) return {ending::unfit};
  of.found.result = step.result;
  of.found.who = served_by::fixed;
  return {ending::hit};
}

}  // namespace

const std::optional<cascade::answer_key>& step_context::key() {
  if (!made_key) made_key.emplace(question(called, call));
  return *made_key;
}

cascade::event event_of(const attempt& tried, const tool& target, bool in_dialogue) {
  const bool presentable = tried.reply.has_message && tried.reply.message.error;
  return {tried.what.how, tried.what.reason, tried.acted(target), presentable, in_dialogue, tried.tries};
}

boost::asio::awaitable<cascade::event> try_step(step_context& of, std::size_t number) {
  const cascade::step& step = of.called.policy.fallback.steps[number];
  if (const auto* cache = std::get_if<cascade::cache_step>(&step)) co_return look_in_cache(of, *cache);
  const prepared_step& prepared = of.called.steps[number];
  if (std::holds_alternative<cascade::tool_step>(step)) co_return co_await call_other_tool(of, prepared);
  co_return take_fixed(of, prepared);
}

}  // namespace switchgear::call
