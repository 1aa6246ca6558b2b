#include "listen/mcp_endpoint.hpp"

#include "http/media_type.hpp"
#include "listen/batch.hpp"
#include "listen/clientele.hpp"
#include "listen/connection.hpp"
#include "listen/event_stream.hpp"
#include "listen/origin.hpp"
#include "protocol/batch.hpp"
#include "protocol/errc.hpp"
#include "protocol/errors.hpp"
#include "protocol/mirrored.hpp"
#include "protocol/version.hpp"

#include <boost/asio/co_spawn.hpp>

#include <optional>
#include <string>
#include <utility>

namespace switchgear::listen {

namespace asio = boost::asio;
namespace code = protocol::code;
using port::refusal;
using protocol::era;

namespace {

bool is_endpoint(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  return path == "/mcp" || path == "/mcp/";
}

// The body's word counts first, since only a modern client writes it (MCP 2026-07-28 basic/versioning); a header alone
// makes a modern request that lacks what it must have. Mcp-Method is no sign: some legacy clients send it.
bool is_modern(const http::request_head& head, const protocol::message& seen) {
  if (!seen.meta_version.empty()) return protocol::says_modern(seen);
  return protocol::era_of(head.protocol_version) == era::modern;
}

void break_off(void* stream) {
  static_cast<event_stream*>(stream)->break_off();
}

// Earlier revisions have no first event without data, and their clients may take it for a message.
bool comes_back(std::string_view revision) {
  return revision >= "2025-11-25";
}

refused_request check_media(const http::request_head& head) {
  if (head.has_accept && !head.accepts_json && !head.accepts_sse) {
    return {
        406, code::invalid_request, "Accept must cover application/json or text/event-stream", {}, refusal::media_type};
  }
  if (!http::is_media_type(head.content_type, "application/json")) {
    return {415, code::invalid_request, "Content-Type must be application/json", {}, refusal::media_type};
  }
  if (!head.content_encoding.empty() && !http::same_text(head.content_encoding, "identity")) {
    return {415, code::invalid_request, "request bodies must not be encoded", {}, refusal::media_type};
  }
  if (!head.framing.chunked && !head.framing.content_length) {
    return {411, code::invalid_request, "Content-Length is missing"};
  }
  return {};
}

// GET and DELETE are about a session, which the modern era does not have.
refused_request check_session_verb(const http::request_head& head) {
  if (head.session_id.empty() || protocol::era_of(head.protocol_version) == era::modern) {
    return {405, code::invalid_request, "GET and DELETE are for a session's client: Mcp-Session-Id is missing",
            "Allow: POST\r\n"};
  }
  if (head.method == "GET" && (!head.accepts_sse || head.is_http_1_0)) {
    return {406, code::invalid_request, "a stream is text/event-stream over HTTP/1.1", {}, refusal::media_type};
  }
  return {};
}

}  // namespace

refused_request mcp_endpoint::check(const http::request_head& head, const port::listen_settings& settings) {
  if (head.host.empty() && !head.is_http_1_0) return {400, code::invalid_request, "Host is missing"};
  if (!host_allowed(head.host, settings.allowed_hosts)) {
    return {403, code::invalid_request, "this Host is not served; see allowed_hosts", {}, refusal::host_or_origin};
  }
  if (!origin_allowed(head.origin, settings.allowed_origins)) {
    return {403, code::invalid_request, "this Origin is not allowed; see allowed_origins", {}, refusal::host_or_origin};
  }
  if (!is_endpoint(head.target)) return {404, code::invalid_request, "nothing here; the MCP endpoint is /mcp"};
  if (head.method == "POST") return check_media(head);
  if (head.method == "GET" || head.method == "DELETE") return check_session_verb(head);
  return {405, code::invalid_request, "this endpoint takes GET, POST and DELETE", "Allow: GET, POST, DELETE\r\n"};
}

asio::awaitable<std::shared_ptr<session>> mcp_endpoint::find_session(std::string_view id, bool& keep) {
  const time_point now = async::worker::now();
  if (head_.session_id.empty()) {
    keep = co_await reply_.refuse({400, code::invalid_request, "Mcp-Session-Id is missing: initialize first"}, id);
    co_return nullptr;
  }
  if (auto found = here_.all.find(head_.session_id, principal_, now)) co_return found;
  auto [found, full] = co_await here_.all.adopt(here_.on, std::string(head_.session_id), std::string(principal_), now);
  if (found) co_return std::move(found);
  const refused_request why =
      full ? refused_request{503,
                             code::overloaded,
                             "too many sessions",
                             "Retry-After: 5\r\n",
                             refusal::session_limit,
                             too_many_sessions_data}
           : refused_request{404, code::invalid_request, "unknown session", {}, refusal::unknown_session};
  keep = co_await reply_.refuse(why, id);
  co_return nullptr;
}

asio::awaitable<bool> mcp_endpoint::end_session() {
  bool keep = false;
  const auto found = co_await find_session(protocol::no_id, keep);
  if (!found) co_return keep;
  here_.all.end(*found);
  co_return co_await reply_.empty(204);
}

asio::awaitable<std::shared_ptr<session>> mcp_endpoint::session_of_stream(bool& keep) {
  auto found = co_await find_session(protocol::no_id, keep);
  // An ordinary stream in the place of one that cannot be gone on with would push out the session's own.
  if (!found || head_.last_event_id.empty() || here_.all.parked().has(found->id(), head_.last_event_id)) {
    co_return found;
  }
  keep = co_await reply_.refuse(
      {405, code::invalid_request, "no stream can be gone on with from this Last-Event-ID", "Allow: POST\r\n"},
      protocol::no_id);
  co_return nullptr;
}

asio::awaitable<bool> mcp_endpoint::post(std::string_view body, time_point arrived) {
  if (protocol::is_batch(body)) co_return co_await batch(body, arrived);
  protocol::scratch space;
  const auto seen = protocol::peek(body, space);
  if (!seen) {
    here_.recorder.refused(here_.on.index, refusal::bad_request);
    const std::string text = protocol::write_refusal(body, seen.error());
    parts pieces;
    pieces.push_back(text);
    co_return co_await reply_.json(std::move(pieces), 400);
  }
  const incoming came{body, *seen, arrived};
  co_return is_modern(head_, *seen) ? co_await modern(came) : co_await legacy(came);
}

asio::awaitable<bool> mcp_endpoint::modern(const incoming& came) {
  if (came.seen.kind == protocol::kind::notification) co_return co_await reply_.empty(202);
  if (came.seen.kind == protocol::kind::response) {
    co_return co_await reply_.refuse({400, code::invalid_request, "a client of this revision sends no responses"},
                                     protocol::no_id);
  }
  const protocol::mirrored_headers headers{
      .version = head_.protocol_version, .method = head_.mcp_method, .name = head_.mcp_name};
  if (const std::string text = protocol::refuse_modern(came.text, came.seen, &headers); !text.empty()) {
    here_.recorder.refused(here_.on.index, refusal::version);
    parts pieces;
    pieces.push_back(text);
    co_return co_await reply_.json(std::move(pieces), 400);
  }
  co_return co_await answer(came, {.era = era::modern, .principal = principal_, .head = head_text_});
}

asio::awaitable<bool> mcp_endpoint::legacy(const incoming& came) {
  const std::string_view id = came.seen.id ? came.id() : protocol::no_id;
  if (came.seen.kind == protocol::kind::request && came.seen.method == "initialize") {
    co_return co_await initialize(came);
  }
  if (!head_.protocol_version.empty() && !protocol::is_supported(head_.protocol_version)) {
    here_.recorder.refused(here_.on.index, refusal::version);
    const std::string text = protocol::write_unsupported_version(id, head_.protocol_version);
    parts pieces;
    pieces.push_back(text);
    co_return co_await reply_.json(std::move(pieces), 400);
  }
  bool keep = false;
  auto found = co_await find_session(id, keep);
  if (!found) co_return keep;
  sender from = sender_of(std::move(found));
  from.principal = principal_;
  from.head = head_text_;
  if (came.seen.kind == protocol::kind::request) co_return co_await answer(came, from);
  if (came.seen.kind == protocol::kind::notification) {
    dispatch(here_).notification(came, from);
  } else {
    dispatch(here_).response(came, from);
  }
  co_return co_await reply_.empty(202);
}

asio::awaitable<bool> mcp_endpoint::initialize(const incoming& came) {
  port::answer out;
  const auto opened = dispatch(here_).initialize(came, principal_, out);
  const std::string fields = opened              ? "Mcp-Session-Id: " + opened->id() + "\r\n"
                             : out.status == 503 ? std::string("Retry-After: 5\r\n")
                                                 : std::string();
  co_return co_await reply_.json(std::move(out.pieces), out.status, fields);
}

asio::awaitable<bool> mcp_endpoint::batch(std::string_view body, time_point arrived) {
  const auto refuse = [&](error_code why) { return protocol::write_refusal(body, why); };
  std::shared_ptr<session> found;
  if (!head_.session_id.empty()) {
    bool keep = false;
    found = co_await find_session(protocol::no_id, keep);
    if (!found) co_return keep;
  }
  const auto elements = protocol::split_batch(body);
  std::string refused;
  if (!elements) {
    refused = refuse(elements.error());
  } else if (!found || !has_batches(found->revision())) {
    refused = refuse(protocol::errc::batch);
  }
  if (!refused.empty()) {
    here_.recorder.refused(here_.on.index, refusal::bad_request);
    parts pieces;
    pieces.push_back(refused);
    co_return co_await reply_.json(std::move(pieces), 400);
  }
  event_stream events(here_.on, client_, here_.all.questions(), found.get());
  sender from = sender_of(found);
  from.principal = principal_;
  from.head = head_text_;
  const std::vector<std::string> answers =
      co_await answer_batch(here_, *elements, from, arrived, takes_events() ? &events : nullptr);
  if (answers.empty()) co_return co_await reply_.empty(202);
  if (!events.used() && (takes_json() || !takes_events())) {
    co_return co_await reply_.json(as_array(answers));
  }
  for (const std::string& one : answers) {
    parts pieces;
    pieces.push_back(one);
    events.add(std::move(pieces));
  }
  co_return co_await events.finish({}) && reply_.keeps();
}

asio::awaitable<bool> mcp_endpoint::answer(const incoming& asked, const sender& from) {
  async::interrupt interrupt(here_.on.timers);
  event_stream events(here_.on, client_, here_.all.questions(), from.session.get());
  // A modern client takes its request back by closing the stream; a legacy one by a notification, and what it misses of
  // its stream is lost to it, but the call goes on (MCP 2025-11-25 basic/transports).
  if (from.era == era::modern) events.interrupts(interrupt);
  if (from.session && comes_back(from.session->revision())) {
    events.resumes({.parked = &here_.all.parked(), .release = serve_on, .context = this});
  }
  std::optional<client_stream::watch> watch;
  if (from.era == era::modern || from.session->abilities().any()) watch.emplace(client_, break_off, &events);
  port::answer out;
  co_await dispatch(here_).request(asked, from, interrupt, takes_events() ? &events : nullptr, out);
  // Of two forms that a client takes, the one that it names first. Legacy servers answer in events anyhow; those of the
  // modern era only when there is more than the answer to say.
  const bool as_events = from.era == era::legacy && head_.events_first && takes_events();
  if (!events.used() && !as_events && (takes_json() || !takes_events())) {
    const std::string fields =
        out.retry_after != 0 ? "Retry-After: " + std::to_string(out.retry_after) + "\r\n" : std::string();
    co_return co_await reply_.json(std::move(out.pieces), out.status, fields);
  }
  co_return co_await events.finish(std::move(out.pieces)) && reply_.keeps();
}

// The call goes on in the frame of its connection, so the connection goes on in another one.
void mcp_endpoint::serve_on(void* self, asio::ip::tcp::socket socket) {
  auto* const my = static_cast<mcp_endpoint*>(self);
  if (!my->is_last_ || !my->reply_.keeps()) return;
  asio::co_spawn(my->here_.on.io, serve_connection(my->here_, std::move(socket)), [](std::exception_ptr) {});
}

asio::awaitable<void> serve_parked(shard& here, client_stream& client, std::shared_ptr<session> of, std::string id) {
  async::interrupt interrupt(here.on.timers);
  call_in_flight in_flight;  // for the drain
  in_flight.interrupt = &interrupt;
  here.calls.push_back(in_flight);
  event_stream events(here.on, client, here.all.questions(), nullptr);
  events.interrupts(interrupt);
  const client_stream::watch watch(client, break_off, &events);
  co_await events.open();
  const auto kept = co_await here.all.parked().take(here.on, of->id(), std::move(id), interrupt);
  if (kept) events.replay(*kept);
  co_await events.finish({});
}

asio::awaitable<void> serve_stream(shard& here, client_stream& client, std::shared_ptr<session> of) {
  async::interrupt interrupt(here.on.timers);
  event_stream events(here.on, client, here.all.questions(), nullptr);
  events.interrupts(interrupt);
  const client_stream::watch watch(client, break_off, &events);
  subscriber stream(here.on, of);
  here.all.attach(here, stream, *of);
  if (here.draining) stream.end();
  co_await events.open();
  co_await stream.deliver(events, interrupt);
  here.all.detach(stream, *of);
  stream.unlink();
  co_await events.finish({});
}

}  // namespace switchgear::listen
