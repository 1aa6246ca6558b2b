#include "call/steps.hpp"

#include "async/chain.hpp"
#include "call/explain.hpp"
#include "call/found.hpp"
#include "call/http_step.hpp"
#include "call/model_step.hpp"
#include "call/retries.hpp"
#include "call/rounds.hpp"
#include "call/step_request.hpp"
#include "call/stored.hpp"
#include "protocol/text.hpp"

#include <boost/json.hpp>

#include <utility>

namespace switchgear::call {
namespace {

using cascade::ending;
using cascade::served_by;

constexpr int most_levels = 128;  // of a result that is mapped

/// What another did instead of answering. Of one that said nothing there is nothing to say.
void explain_reply(step_context& of, std::size_t number, const attempt& tried) {
  if (tried.refused || tried.what.how == ending::timed_out || tried.what.how == ending::cancelled) return;
  of.explain(number, describe(tried.reply));
}

ending take_answer(step_context& of, std::size_t number, port::reply& reply) {
  const protocol::message& message = reply.message;
  if (!message.result || message.is_error || asks_for_input(reply)) {
    if (message.is_error) of.explain(number, "isError");
    return ending::failed;
  }
  of.found.who = served_by::tool;
  of.found.body = std::move(reply.body);
  const std::string_view body = of.found.body.view();
  if (const auto& mapping = of.called.steps[number].mapping) {
    boost::json::parse_options deep;
    deep.max_depth = most_levels;
    error_code error;
    const auto result = boost::json::parse(message.result.in(body), error, {}, deep);
    if (!error) return map_answer(of, number, *mapping, result);
    of.explain(number, "its result cannot be read: " + error.message());
    return ending::failed;
  }
  if (!fits(of, number, message.structured_content.in(body))) return ending::unfit;
  of.found.result = message.result.in(body);
  return ending::hit;
}

// Its progress is not relayed: the client may have seen the primary's, and progress must not go back.
boost::asio::awaitable<cascade::event> call_other_tool(step_context& of, std::size_t number) {
  const prepared_step& step = of.called.steps[number];
  if (step.target == nullptr) co_return cascade::event{ending::unreachable};
  const port::incoming_call& call = of.call;
  const std::string_view original = step.target->entry->original;
  step_request request;
  port::outgoing_request outgoing{.text = call.text, .seen = call.seen, .target = original, .client = call.client};
  if (step.arguments) {
    std::string missing;
    if (request.build(call, *step.arguments, &missing)) {
      of.explain(number, missing);
      co_return cascade::event{ending::no_argument};
    }
    outgoing = request.outgoing(original, call.client);
  }
  // The steps behind this one need time as well.
  async::interrupt part(of.on.timers);
  const async::chain chained(of.whole, part);
  part.arm(of.machine.step_deadline(number, of.now, step.target->repeatable));
  attempt_context given{.on = of.on,
                        .breakers = of.with.breakers,
                        .whole = part,
                        .target = *step.target,
                        .outgoing = outgoing,
                        .started = of.now};
  attempt tried;
  co_await try_with_retries(given, nullptr, of.with.random, tried);
  of.now = tried.ended;
  cascade::event ended = event_of(tried, *step.target, false);
  if (tried.what.how == ending::answered) {
    ended.how = take_answer(of, number, tried.reply);
  } else {
    explain_reply(of, number, tried);
  }
  co_return ended;
}

cascade::event take_fixed(step_context& of, const prepared_step& step) {
  if (step.result.empty()) return {ending::unfit};
  of.found.result = step.result;
  of.found.who = served_by::fixed;
  return {ending::hit};
}

}  // namespace

void step_context::explain(std::size_t number, std::string_view detail) {
  constexpr std::size_t longest = 120;
  if (detail.empty()) return;
  if (details.size() <= number) details.resize(number + 1);
  // A peer's bytes may be no UTF-8, and would make an answer that is no JSON.
  details[number] = protocol::unquoted(protocol::quoted(protocol::head(detail, longest))).value();
}

cascade::event event_of(const attempt& tried, const tool& target, bool in_dialogue) {
  const bool presentable = tried.reply.has_message && tried.reply.message.error;
  return {tried.what.how, tried.what.reason, tried.acted(target), presentable, in_dialogue, tried.tries};
}

boost::asio::awaitable<cascade::event> try_step(step_context& of, std::size_t number) {
  const cascade::step& step = of.called.policy.fallback.steps[number];
  if (const auto* cache = std::get_if<cascade::cache_step>(&step)) co_return co_await find_stored(of, *cache, number);
  if (std::holds_alternative<cascade::tool_step>(step)) co_return co_await call_other_tool(of, number);
  if (std::holds_alternative<cascade::http_step>(step)) co_return co_await ask_endpoint(of, number);
  if (std::holds_alternative<cascade::model_step>(step)) co_return co_await ask_model(of, number);
  co_return take_fixed(of, of.called.steps[number]);
}

}  // namespace switchgear::call
