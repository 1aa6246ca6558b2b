#include "call/model_step.hpp"

#include "call/found.hpp"
#include "call/guarded_try.hpp"
#include "cascade/wording.hpp"

#include <boost/json.hpp>

#include <utility>

namespace switchgear::call {
namespace {

using cascade::ending;

std::string description_of(std::string_view definition) {
  boost::json::parse_options deep;
  deep.max_depth = 128;
  error_code error;
  const auto tool = boost::json::parse(definition, error, {}, deep);
  const auto* members = error ? nullptr : tool.if_object();
  const auto* text = members != nullptr ? members->if_contains("description") : nullptr;
  return text != nullptr && text->is_string() ? std::string(text->get_string()) : std::string();
}

/// What an answer means is the same as of a tool; with a text there is nothing to classify.
meaning meaning_of(const port::model_reply& said) {
  if (said.fault == port::fault::none) {
    return {{breaker::verdict::success}, {breaker::verdict::success}, ending::answered, cascade::reason::none};
  }
  port::reply failed;
  failed.fault = said.fault;
  return classify(failed, {}, false);
}

}  // namespace

std::shared_ptr<const prepared_model> prepare_model(port::model& who, std::string_view definition,
                                                    const breaker::settings& values, port::breakers& breakers) {
  const std::string name = "model:" + std::string(who.name());
  return std::make_shared<const prepared_model>(
      prepared_model{&who, &breakers.tool(name, values), &breakers.server(name, values), description_of(definition)});
}

boost::asio::awaitable<cascade::event> ask_model(step_context& of, std::size_t number) {
  const prepared_step& step = of.called.steps[number];
  if (step.model == nullptr) co_return cascade::event{ending::unreachable};
  breaker::admission admission = breaker::acquire(*step.model->gate, *step.model->server_gate, of.on.index, of.now);
  if (!admission) co_return cascade::event{ending::refused};
  const std::string prompt =
      cascade::model_prompt(of.called.entry->name, step.model->description, of.call.seen->arguments.in(of.call.text));
  guarded_try one(of.on, of.with.breakers, of.whole, std::move(admission.permit()), of.now,
                  of.machine.step_deadline(number, of.now, true));
  const port::model_reply said = co_await step.model->who->answer(of.on, prompt, one.until());
  of.now = async::worker::now();
  const meaning what = meaning_of(said);
  one.end(what, of.now);
  if (what.how != ending::answered) {
    if (what.how != ending::timed_out && what.how != ending::cancelled) of.explain(number, said.detail);
    co_return cascade::event{what.how};
  }
  of.found.who = cascade::served_by::model;
  co_return cascade::event{take_made(of, number, {said.text, {}})};
}

}  // namespace switchgear::call
