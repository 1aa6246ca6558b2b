#include "call/respond.hpp"

#include "protocol/errors.hpp"
#include "protocol/results.hpp"
#include "protocol/rewrite.hpp"

#include <utility>

namespace switchgear::call {

namespace {

// The modern era says some errors by the HTTP status as well (MCP 2026-07-28 basic/transports/streamable-http).
int status_of(const port::incoming_call& call, const protocol::message& response) {
  namespace code = protocol::code;
  if (call.client.era != protocol::era::modern || !response.error) return 200;
  if (response.error_code == code::method_not_found) return 404;
  const bool of_the_request = code::unsupported_version <= response.error_code && response.error_code <= -32020;
  return of_the_request ? 400 : 200;
}

}  // namespace

void respond(const port::incoming_call& call, port::reply& reply, std::string request_state, port::answer& out) {
  out.body = std::move(reply.body);
  out.state = std::move(request_state);
  out.status = status_of(call, reply.message);
  protocol::rewrite_response(out.body.view(), reply.message,
                             {.from = reply.era,
                              .to = call.client.era,
                              .id = call.seen->id.in(call.text),
                              .method = call.seen->method,
                              .request_state = out.state},
                             out.text, out.pieces);
}

void respond(const port::incoming_call& call, std::string result, port::answer& out) {
  if (call.client.era == protocol::era::modern && result.starts_with('{') &&
      result.find(R"("resultType")") == std::string::npos) {
    result.insert(1, protocol::complete_member);
  }
  out.text = std::move(result);
  protocol::write_result(call.seen->id.in(call.text), out.text, out.pieces);
}

}  // namespace switchgear::call
