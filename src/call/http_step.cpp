#include "call/http_step.hpp"

#include "call/found.hpp"
#include "call/guarded_try.hpp"
#include "call/page.hpp"
#include "protocol/text.hpp"

#include <boost/json/value.hpp>

#include <string>
#include <utility>

namespace switchgear::call {
namespace {

using cascade::ending;

struct filled_request {
  std::string target, body;
};

/// The request for this call; false, and explained, if it has no arguments for one.
bool fill(step_context& of, std::size_t number, const prepared_http& endpoint, bool has_body, filled_request& out) {
  const std::string_view arguments = of.call.seen->arguments.in(of.call.text);
  const auto given = cascade::read_arguments(arguments);
  if (!given) return false;
  std::string missing;
  auto target = endpoint.url.fill(*given, &missing);
  if (!target) {
    of.explain(number, missing.empty() ? target.error().message() : missing);
    return false;
  }
  out.target = std::move(*target);
  if (!has_body) return true;
  if (!endpoint.body) {
    out.body = arguments.empty() ? "{}" : arguments;
    return true;
  }
  auto body = endpoint.body->fill(*given, &missing);
  if (!body) {
    of.explain(number, missing);
    return false;
  }
  out.body = std::move(*body);
  return true;
}

// Text that is no UTF-8 would make a result that is no JSON.
std::string as_utf8(std::string_view text) {
  return protocol::unquoted(protocol::quoted(text)).value();
}

ending take_page(step_context& of, std::size_t number, const page& got, const port::reply& reply) {
  of.found.who = cascade::served_by::http;
  if (const auto& mapping = of.called.steps[number].mapping) return map_answer(of, number, *mapping, got.json);
  return take_made(of, number, {as_utf8(reply.body.view()), {}});
}

}  // namespace

boost::asio::awaitable<cascade::event> ask_endpoint(step_context& of, std::size_t number) {
  const auto& policy = std::get<cascade::http_step>(of.called.policy.fallback.steps[number]);
  const prepared_step& step = of.called.steps[number];
  if (step.http == nullptr) co_return cascade::event{ending::unreachable};
  const prepared_http& endpoint = *step.http;
  filled_request request;
  if (!fill(of, number, endpoint, policy.sends_body(), request)) co_return cascade::event{ending::no_argument};

  breaker::admission admission = breaker::acquire(*endpoint.gate, *endpoint.server_gate, of.on.index, of.now);
  if (!admission) co_return cascade::event{ending::refused};
  guarded_try one(of.on, of.with.breakers, of.whole, std::move(admission.permit()), of.now,
                  of.machine.step_deadline(number, of.now, policy.reads()));
  const port::web_reply got = co_await endpoint.origin->fetch(
      of.on, {.method = name(policy.method), .target = request.target, .fields = endpoint.fields, .body = request.body},
      one.until());
  of.now = async::worker::now();
  const page answer = read_page(got, step.mapping.has_value());
  one.end(answer.what, of.now);

  cascade::event ended{.how = answer.what.how, .acted = got.reply.sent && !policy.reads()};
  if (answer.what.how == ending::answered) {
    ended.how = take_page(of, number, answer, got.reply);
  } else if (answer.what.how != ending::timed_out && answer.what.how != ending::cancelled) {
    of.explain(number, answer.why);
  }
  co_return ended;
}

}  // namespace switchgear::call
