#include "listen/mcp_endpoint.hpp"

#include "base/version.hpp"
#include "http/media_type.hpp"
#include "listen/event_stream.hpp"
#include "listen/origin.hpp"
#include "protocol/errors.hpp"
#include "protocol/results.hpp"
#include "protocol/text.hpp"
#include "protocol/version.hpp"

#include <charconv>
#include <string>
#include <utility>

namespace switchgear::listen {

namespace asio = boost::asio;
namespace code = protocol::code;
using port::refusal;

namespace {

constexpr std::string_view allow = "Allow: POST, DELETE\r\n";

std::string_view status_text(int status) {
  switch (status) {
    case 400:
      return "400 Bad Request";
    case 403:
      return "403 Forbidden";
    case 404:
      return "404 Not Found";
    case 405:
      return "405 Method Not Allowed";
    case 406:
      return "406 Not Acceptable";
    case 408:
      return "408 Request Timeout";
    case 411:
      return "411 Length Required";
    case 413:
      return "413 Content Too Large";
    case 415:
      return "415 Unsupported Media Type";
    case 417:
      return "417 Expectation Failed";
    case 431:
      return "431 Request Header Fields Too Large";
    case 501:
      return "501 Not Implemented";
    case 503:
      return "503 Service Unavailable";
    default:
      return "500 Internal Server Error";
  }
}

bool is_endpoint(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  return path == "/mcp" || path == "/mcp/";
}

}  // namespace

refused_head mcp_endpoint::check(const http::request_head& head, const port::listen_settings& settings) {
  if (head.host.empty() && !head.is_http_1_0) return {400, code::invalid_request, "Host is missing"};
  if (!host_allowed(head.host, settings.allowed_hosts)) {
    return {403, code::invalid_request, "this Host is not served; see allowed_hosts", {}, refusal::host_or_origin};
  }
  if (!origin_allowed(head.origin, settings.allowed_origins)) {
    return {403, code::invalid_request, "this Origin is not allowed; see allowed_origins", {}, refusal::host_or_origin};
  }
  if (!is_endpoint(head.target)) return {404, code::invalid_request, "nothing here; the MCP endpoint is /mcp"};
  if (head.method != "POST" && head.method != "DELETE") {
    return {405, code::invalid_request, "this endpoint takes POST and DELETE", allow};
  }
  if (!head.protocol_version.empty() && !protocol::is_supported(head.protocol_version)) {
    // Not the code of the modern era: its clients would take that as a sign that we speak it.
    return {400,
            code::invalid_request,
            "unsupported MCP-Protocol-Version; this gateway speaks 2025-03-26, 2025-06-18 and 2025-11-25",
            {},
            refusal::version};
  }
  if (head.method == "DELETE") return {};
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

asio::awaitable<bool> mcp_endpoint::reply(parts body, std::string_view status, std::string_view fields) {
  char head[320];
  char* end = head;
  const auto add = [&](std::string_view text) { end = std::copy(text.begin(), text.end(), end); };
  add("HTTP/1.1 ");
  add(status);
  add("\r\nContent-Type: application/json\r\n");
  add(fields);
  const bool keep = keeps();
  if (!keep) {
    add("Connection: close\r\n");
  } else if (head_.is_http_1_0) {
    add("Connection: keep-alive\r\n");
  }
  add("Content-Length: ");
  end = std::to_chars(end, end + 20, total_size(body)).ptr;
  add("\r\n\r\n");
  body.insert(body.begin(), std::string_view(head, static_cast<std::size_t>(end - head)));
  const error_code failed = co_await client_.write(std::move(body));
  co_return !failed && keep;
}

asio::awaitable<bool> mcp_endpoint::accept_silently() {
  const bool keep = keeps();
  parts head;
  head.push_back(keep ? "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
                      : "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  const error_code failed = co_await client_.write(std::move(head));
  co_return !failed && keep;
}

asio::awaitable<bool> mcp_endpoint::refuse(const refused_head& why, std::string_view id) {
  here_.recorder.refused(here_.on.index, why.kind);
  const std::string body = protocol::write_error(id, why.code, why.message);
  parts pieces;
  pieces.push_back(body);
  co_return co_await reply(std::move(pieces), status_text(why.status), why.fields);
}

asio::awaitable<bool> mcp_endpoint::end_session() {
  if (head_.session_id.empty()) {
    co_return co_await refuse({400, code::invalid_request, "Mcp-Session-Id is missing"}, protocol::no_id);
  }
  if (!here_.sessions.end(head_.session_id)) {
    co_return co_await refuse({404, code::invalid_request, "unknown session", {}, refusal::unknown_session},
                              protocol::no_id);
  }
  const bool keep = keeps();
  parts head;
  head.push_back(keep ? "HTTP/1.1 204 No Content\r\n\r\n" : "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
  const error_code failed = co_await client_.write(std::move(head));
  co_return !failed && keep;
}

asio::awaitable<bool> mcp_endpoint::post(std::string_view body, time_point arrived) {
  protocol::scratch space;
  const auto seen = protocol::peek(body, space);
  if (!seen) {
    here_.recorder.refused(here_.on.index, refusal::bad_request);
    const std::string text = protocol::write_refusal(body, seen.error());
    parts pieces;
    pieces.push_back(text);
    co_return co_await reply(std::move(pieces), status_text(400));
  }
  const std::string_view id = seen->id ? seen->id.in(body) : protocol::no_id;
  if (seen->kind == protocol::kind::request && seen->method == "initialize") {
    co_return co_await initialize(body, *seen, arrived);
  }
  if (head_.session_id.empty()) {
    co_return co_await refuse({400, code::invalid_request, "Mcp-Session-Id is missing: initialize first"}, id);
  }
  if (!here_.sessions.find(head_.session_id, arrived)) {
    co_return co_await refuse({404, code::invalid_request, "unknown session", {}, refusal::unknown_session}, id);
  }
  switch (seen->kind) {
    case protocol::kind::request:
      co_return co_await request(body, *seen, arrived);
    case protocol::kind::notification:
      co_return co_await notification(body, *seen);
    case protocol::kind::response:
      break;  // to nothing that we asked
  }
  co_return co_await accept_silently();
}

asio::awaitable<bool> mcp_endpoint::initialize(std::string_view body, const protocol::message& seen, time_point now) {
  const std::string_view id = seen.id.in(body);
  if (seen.protocol_version.empty()) {
    co_return co_await refuse({400, code::invalid_params, "params.protocolVersion is missing"}, id);
  }
  const std::string_view version = protocol::negotiate(seen.protocol_version);
  const auto session = here_.sessions.create(version, now);
  if (!session) {
    co_return co_await refuse(
        {503, code::overloaded, "too many sessions", "Retry-After: 5\r\n", refusal::session_limit}, id);
  }
  const std::string result = protocol::initialize_result(version, {"switchgear", switchgear::version, "Switchgear"});
  const std::string field = "Mcp-Session-Id: " + *session + "\r\n";
  parts pieces;
  protocol::write_result(id, result, pieces);
  co_return co_await reply(std::move(pieces), "200 OK", field);
}

asio::awaitable<bool> mcp_endpoint::request(std::string_view body, const protocol::message& seen, time_point arrived) {
  const std::string_view id = seen.id.in(body);
  if (seen.method == "tools/call") co_return co_await call_tool(body, seen, arrived);

  parts pieces;
  std::string text;
  const std::shared_ptr<const std::string> tools = here_.tools;
  if (seen.method == "ping") {
    protocol::write_result(id, protocol::empty_result, pieces);
  } else if (seen.method == "tools/list" && seen.cursor && seen.cursor.in(body) != "null") {
    text = protocol::write_error(id, code::invalid_params, "unknown cursor: this list has one page");
  } else if (seen.method == "tools/list") {
    protocol::write_result(id, *tools, pieces);
  } else {
    text = protocol::write_error(id, code::method_not_found, "Method not found");
  }
  if (!text.empty()) pieces.push_back(text);
  co_return co_await reply(std::move(pieces));
}

asio::awaitable<bool> mcp_endpoint::call_tool(std::string_view body, const protocol::message& seen,
                                              time_point arrived) {
  async::interrupt interrupt(here_.on.timers);
  call_in_flight in_flight;
  in_flight.session = head_.session_id;
  in_flight.id = seen.id.in(body);
  in_flight.interrupt = &interrupt;
  here_.calls.push_back(in_flight);

  const bool takes_events = (head_.accepts_sse || !head_.has_accept) && !head_.is_http_1_0;
  const bool takes_json = head_.accepts_json || !head_.has_accept;
  event_stream events(here_.on, client_);
  port::answer answer;
  co_await here_.handler->call(
      here_.on, {.text = body, .seen = &seen, .client = {.session = head_.session_id}, .head = {}, .arrived = arrived},
      interrupt, takes_events ? &events : nullptr, answer);
  if (!events.used() && (takes_json || !takes_events)) co_return co_await reply(std::move(answer.pieces));
  co_return co_await events.finish(std::move(answer.pieces)) && keeps();
}

asio::awaitable<bool> mcp_endpoint::notification(std::string_view body, const protocol::message& seen) {
  if (seen.method == "notifications/cancelled" && seen.cancelled_id) {
    here_.cancellations->cancel(head_.session_id, seen.cancelled_id.in(body));
  }
  co_return co_await accept_silently();
}

}  // namespace switchgear::listen
