#include "call/preflight.hpp"

#include "call/rounds.hpp"
#include "http/fields.hpp"
#include "protocol/errc.hpp"
#include "protocol/errors.hpp"
#include "protocol/mirrored_arguments.hpp"
#include "protocol/text.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace switchgear::call {

namespace {

namespace code = protocol::code;
using protocol::era;

constexpr std::size_t longest_echo = 128;

void refuse(const port::incoming_call& call, std::int64_t why, std::string_view text, std::string_view data,
            port::answer& out) {
  out.text = protocol::write_error(call.seen->id.in(call.text), why, text, data);
  out.pieces.push_back(out.text);
}

/// The name or URI as the client wrote it.
std::string_view asked_for(const port::incoming_call& call) {
  return call.seen->name ? call.seen->name_text : call.seen->uri_text;
}

protocol::state_owner owner_of(const port::incoming_call& call) {
  return {call.seen->method, asked_for(call), call.client.principal};
}

void refuse_unknown_resource(const port::incoming_call& call, port::answer& out) {
  constexpr std::int64_t legacy_not_found = -32002;
  const std::string_view uri = call.seen->uri_text;
  if (uri.empty()) return refuse(call, code::invalid_params, "params.uri is missing", {}, out);
  const std::string data = R"({"uri":)" + protocol::quoted(uri) + "}";
  const std::int64_t why = call.client.era == era::modern ? code::invalid_params : legacy_not_found;
  refuse(call, why, "Resource not found: no upstream has " + std::string(protocol::head(uri, longest_echo)), data, out);
}

}  // namespace

void refuse_unknown(const port::incoming_call& call, port::answer& out) {
  const std::string_view method = call.seen->method;
  if (method.starts_with("resources/")) return refuse_unknown_resource(call, out);
  const std::string name(protocol::head(asked_for(call), longest_echo));
  std::string text;
  if (method == "tools/call") {
    text = name.empty() ? "The call names no tool" : "There is no tool " + name + " here; see tools/list";
  } else if (method == "prompts/get") {
    text = name.empty() ? "The request names no prompt" : "There is no prompt " + name + " here; see prompts/list";
  } else {
    text = name.empty() ? "params.ref names no prompt and no resource" : "Nothing here completes arguments of " + name;
  }
  refuse(call, code::invalid_params, text, {}, out);
}

bool check_headers(const port::incoming_call& call, const tool& called, port::answer& out) {
  if (call.client.era != era::modern || call.client.head.empty() || called.entry->mirrored.empty()) return true;
  const std::string difference =
      protocol::mirrored_difference(called.entry->mirrored, call.seen->arguments.in(call.text),
                                    [&](std::string_view name) { return http::field(call.client.head, name); });
  if (difference.empty()) return true;
  refuse(call, code::header_mismatch, difference, {}, out);
  out.status = 400;
  return false;
}

bool shorten(const port::incoming_call& call, duration& length, port::answer& out) {
  const auto milliseconds_in = [](std::string_view text) -> std::optional<duration> {
    constexpr std::int64_t most = std::chrono::milliseconds(std::chrono::hours(24)).count();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end != text.data() + text.size() || (error != std::errc{} && error != std::errc::result_out_of_range)) {
      return std::nullopt;
    }
    if (error == std::errc::result_out_of_range) number = text.starts_with('-') ? 0 : most;
    if (number < 1) return std::nullopt;
    return std::chrono::milliseconds(std::min(number, most));
  };
  if (call.seen->meta_timeout) {
    const auto wanted = milliseconds_in(call.seen->meta_timeout.in(call.text));
    if (!wanted) {
      refuse(call, code::invalid_params,
             R"(params._meta["dev.switchgear/timeout_ms"] is not a whole number of milliseconds, 1 or more)", {}, out);
      return false;
    }
    length = std::min(length, *wanted);
  }
  if (!call.client.head.empty()) {
    if (const auto header = http::field(call.client.head, "x-envoy-expected-rq-timeout-ms")) {
      if (const auto wanted = milliseconds_in(*header)) length = std::min(length, *wanted);
    }
  }
  return true;
}

bool open_state(const port::incoming_call& call, const tool& called, const states& sealed, opened& begun,
                port::answer& out) {
  if (call.client.era != era::modern || !call.seen->request_state) return true;
  auto state = sealed.open(owner_of(call), call.seen->request_state.in(call.text));
  if (state && state->upstream == called.entry->alias) {
    begun.inner = std::move(state->inner);
    return true;
  }
  const bool late = !state && state.error() == protocol::errc::expired;
  refuse(call, code::invalid_params,
         late ? "params.requestState is too old; begin anew"
              : "params.requestState was not given for this request, or has been changed",
         {}, out);
  return false;
}

std::string sealed_state(const port::incoming_call& call, const tool& called, const states& sealed,
                         const port::reply& reply) {
  if (call.client.era != era::modern || !reply.message.request_state || !asks_for_input(reply)) return {};
  return sealed.seal(owner_of(call), called.entry->alias, reply.message.request_state.in(reply.body.view()))
      .value_or("");
}

std::string mirrored_lines(const port::incoming_call& call, const tool& called) {
  if (called.entry->mirrored.empty() || called.upstream->era() != era::modern) return {};
  return protocol::mirrored_lines(called.entry->mirrored, call.seen->arguments.in(call.text));
}

}  // namespace switchgear::call
