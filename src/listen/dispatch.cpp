#include "listen/dispatch.hpp"

#include "base/version.hpp"
#include "listen/clientele.hpp"
#include "listen/methods.hpp"
#include "protocol/abilities.hpp"
#include "protocol/errors.hpp"
#include "protocol/results.hpp"
#include "protocol/subscription.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace switchgear::listen {

namespace asio = boost::asio;
namespace code = protocol::code;
using protocol::era;

namespace {

constexpr protocol::server_identity identity{.name = "switchgear", .version = version, .title = "Switchgear"};

void give_result(std::string_view id, std::string result, port::answer& out) {
  out.text = std::move(result);
  protocol::write_result(id, out.text, out.pieces);
}

void give_error(std::string_view id, std::int64_t code, std::string_view message, port::answer& out, int status = 200,
                std::string_view data = {}) {
  out.pieces.clear();
  out.text = protocol::write_error(id, code, message, data);
  out.pieces.push_back(out.text);
  out.status = status;
}

bool has_result(const port::answer& given) {
  const std::string text = joined(given.pieces);
  protocol::scratch space;
  const auto seen = protocol::peek(text, space);
  return seen && seen->result;
}

protocol::client_abilities abilities_of(const incoming& asked, const sender& from) {
  if (from.era == era::legacy) return from.session->abilities();
  const std::string_view capabilities = asked.seen.meta_capabilities.in(asked.text);
  return capabilities == "{}" ? protocol::client_abilities{} : protocol::read_abilities(capabilities);
}

port::client client_of(const incoming& asked, const sender& from) {
  port::client who{.era = from.era, .principal = from.principal, .abilities = abilities_of(asked, from)};
  who.head = from.head;
  if (from.era == era::legacy) {
    who.session = from.session->id();
    who.log_level = from.session->log_level();
  } else {
    who.log_level = asked.seen.meta_log_level.in(asked.text);
  }
  return who;
}

}  // namespace

std::shared_ptr<session> dispatch::initialize(const incoming& asked, std::string_view principal, port::answer& out) {
  const std::string_view wanted = asked.seen.protocol_version;
  if (wanted.empty()) {
    give_error(asked.id(), code::invalid_params, "params.protocolVersion is missing", out, 400);
    return nullptr;
  }
  const std::string_view revision = protocol::negotiate(wanted);
  const auto abilities = protocol::read_abilities(asked.seen.capabilities.in(asked.text));
  auto opened = here_.all.open(revision, abilities, principal, asked.arrived);
  if (!opened) {
    here_.recorder.refused(here_.on.index, port::refusal::session_limit);
    give_error(asked.id(), code::overloaded, "too many sessions", out, 503, too_many_sessions_data);
    return nullptr;
  }
  const port::offer& offer = *here_.offer;
  give_result(asked.id(),
              protocol::initialize_result(revision, {identity, offer.legacy_capabilities, offer.instructions}), out);
  return opened;
}

asio::awaitable<void> dispatch::request(const incoming& asked, const sender& from, async::interrupt& interrupt,
                                        port::event_sink* client, port::answer& out) {
  call_in_flight in_flight;
  in_flight.client = from.client;
  in_flight.id = asked.id();
  in_flight.interrupt = &interrupt;
  here_.calls.push_back(in_flight);

  const method what = method_of(asked.seen.method, from.era, *here_.offer);
  switch (what) {
    case method::list_tools:
    case method::list_prompts:
    case method::list_resources:
    case method::list_templates:
      co_return list(asked, from, static_cast<port::listed>(what), out);
    case method::ping:
      co_return give_result(asked.id(), std::string(protocol::empty_result), out);
    case method::discover:
      co_return discover(asked, out);
    case method::set_level:
      co_return set_level(asked, from, out);
    case method::call:
      co_return co_await call(asked, from, interrupt, client, out);
    case method::subscribe:
      co_return co_await subscribe(asked, from, interrupt, out);
    case method::unsubscribe:
      co_return co_await unsubscribe(asked, from, interrupt, out);
    case method::listen:
      co_return co_await listen(asked, interrupt, client, out);
    case method::unknown:
      break;
  }
  give_error(asked.id(), code::method_not_found, "Method not found", out, from.era == era::modern ? 404 : 200);
}

void dispatch::list(const incoming& asked, const sender& from, port::listed what, port::answer& out) const {
  if (asked.seen.cursor && asked.seen.cursor.in(asked.text) != "null") {
    return give_error(asked.id(), code::invalid_params, "unknown cursor: this list has one page", out);
  }
  const std::string& result = here_.offer->list(from.era, what);
  out.shared = {here_.offer, &result};
  protocol::write_result(asked.id(), result, out.pieces);
}

void dispatch::discover(const incoming& asked, port::answer& out) const {
  const port::offer& offer = *here_.offer;
  give_result(asked.id(), protocol::discover_result({identity, offer.modern_capabilities, offer.instructions}), out);
}

void dispatch::set_level(const incoming& asked, const sender& from, port::answer& out) {
  if (!here_.all.set_level(*from.session, asked.seen.level.in(asked.text))) {
    return give_error(asked.id(), code::invalid_params, "params.level is no log level", out);
  }
  give_result(asked.id(), std::string(protocol::empty_result), out);
}

asio::awaitable<void> dispatch::call(const incoming& asked, const sender& from, async::interrupt& interrupt,
                                     port::event_sink* client, port::answer& out) {
  const port::incoming_call call{
      .text = asked.text, .seen = &asked.seen, .client = client_of(asked, from), .arrived = asked.arrived};
  co_await here_.handler.call(here_.on, call, interrupt, client, out);
}

// Its server must agree before the session is told of the resource's changes.
asio::awaitable<void> dispatch::subscribe(const incoming& asked, const sender& from, async::interrupt& interrupt,
                                          port::answer& out) {
  co_await call(asked, from, interrupt, nullptr, out);
  if (!has_result(out)) co_return;
  if (here_.all.watches().subscribe(from.session->id(), asked.seen.uri_text)) co_return;
  give_error(asked.id(), code::overloaded, "this session has too many subscriptions", out);
}

asio::awaitable<void> dispatch::unsubscribe(const incoming& asked, const sender& from, async::interrupt& interrupt,
                                            port::answer& out) {
  here_.all.watches().unsubscribe(from.session->id(), asked.seen.uri_text);
  co_await call(asked, from, interrupt, nullptr, out);
}

asio::awaitable<void> dispatch::listen(const incoming& asked, async::interrupt& interrupt, port::event_sink* client,
                                       port::answer& out) {
  // A view of the request, which lives until the answer has been written; the answer's pieces point to it.
  const std::string_view id = asked.id();
  if (client == nullptr) {
    co_return give_error(id, code::invalid_request, "subscriptions/listen needs a client that takes events", out, 406);
  }
  const port::offer& offer = *here_.offer;
  const auto has = [&](port::listed what) { return offer.has[static_cast<unsigned>(what)]; };
  protocol::subscription_filter honoured = protocol::read_filter(asked.seen.notifications.in(asked.text));
  honoured.lists =
      protocol::both(honoured.lists, {.tools = has(port::listed::tools),
                                      .prompts = has(port::listed::prompts),
                                      .resources = has(port::listed::resources) || has(port::listed::templates)});
  if (!offer.subscribes) honoured.uris.clear();

  const std::vector<std::string> uris = honoured.uris;
  subscriber stream(here_.on, std::string(id), std::move(honoured));
  here_.streams.push_back(stream);
  stream.push(protocol::write_acknowledgement(id, stream.filter()));
  if (here_.draining) stream.end();
  here_.all.watches().add(uris);
  co_await stream.deliver(*client, interrupt);
  here_.all.watches().remove(uris);
  give_result(id, protocol::listen_result(id), out);
}

void dispatch::notification(const incoming& told, const sender& from) {
  if (told.seen.method == "notifications/cancelled" && told.seen.cancelled_id) {
    here_.all.cancel(from.client, told.seen.cancelled_id.in(told.text));
  }
}

void dispatch::response(const incoming& given, const sender& from) {
  if (from.session) here_.all.answer(*from.session, given.text, given.seen);
}

}  // namespace switchgear::listen
