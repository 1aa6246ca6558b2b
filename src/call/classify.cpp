#include "call/classify.hpp"

#include "protocol/errors.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace switchgear::call {
namespace {

using breaker::outcome;
using breaker::verdict;
using cascade::ending;
using cascade::reason;
using port::fault;

constexpr outcome good{verdict::success};
constexpr outcome bad{verdict::failure};
constexpr outcome nothing{verdict::neutral};
constexpr outcome bad_and_slow{verdict::failure, true};
constexpr outcome no_connection{verdict::failure, false, true};

constexpr meaning timely_answer{good, good, ending::answered, reason::none};

bool between(std::int64_t code, std::int64_t low, std::int64_t high) {
  return low <= code && code <= high;
}

/// The tool took the call and broke: its server is fine.
constexpr meaning broken_tool{bad, good, ending::failed, reason::upstream_error};

meaning of_error_code(std::int64_t code) {
  namespace codes = protocol::code;
  // Resource not found, up to 2025-11-25: the one code of the legacy pool with a meaning.
  if (code == -32002) return timely_answer;
  if (code == codes::internal_error || between(code, -32019, -32000)) return broken_tool;
  // Not there, or we spoke the wrong version or bad JSON: it says nothing about the tool's health.
  if (code == codes::method_not_found) return {nothing, good, ending::answered, reason::none};
  if (code == codes::parse_error || between(code, -32022, -32020)) {
    return {nothing, nothing, ending::answered, reason::none};
  }
  return timely_answer;  // it blames the caller
}

// A question to the client, or a handle on work that goes on: the server is there, the tool has not shown yet whether
// it works (MCP 2026-07-28 basic "Result types").
bool is_unfinished(const port::reply& reply) {
  const std::string_view type = reply.message.result_type.in(reply.body.view());
  return !type.empty() && type != R"("complete")";
}

meaning of_result(const port::reply& reply, const port::tool_policy& policy, bool probe) {
  meaning what = timely_answer;
  if (is_unfinished(reply)) return {nothing, good, ending::answered, reason::none};
  if (!reply.message.is_error) return what;
  switch (policy.breaker.is_error) {
    case breaker::is_error::neutral:
      if (!probe) what.tool = nothing;
      break;
    case breaker::is_error::failure:
      what.tool = bad;
      break;
    case breaker::is_error::success:
      break;
  }
  if (!policy.error_text.empty() && holds_error_text(reply.message.result.in(reply.body.view()), policy)) {
    what.tool = bad;
  }
  return what;
}

meaning of_status(const port::reply& reply) {
  const bool has_error = reply.has_message && reply.message.error;
  const int status = reply.status;
  if (status == 429 || (status == 503 && reply.retry_after)) {
    return {nothing, nothing, ending::throttled, reason::throttled};
  }
  if (status == 502 || status == 503 || status == 504) return {nothing, bad, ending::failed, reason::upstream_error};
  if (status >= 500) return broken_tool;
  if (status == 401 || status == 403) return {nothing, good, ending::denied, reason::denied};
  if (has_error) {
    const meaning what = of_error_code(reply.message.error_code);
    return what.how == ending::answered ? what : timely_answer;  // the status blames the caller whatever the code
  }
  // A wrong route or an old server: neither the tool nor the server is sick.
  return {nothing, nothing, ending::failed, reason::upstream_error};
}

bool over_http(const port::reply& reply) {
  return reply.status != 0;
}

}  // namespace

meaning classify(const port::reply& reply, const port::tool_policy& policy, bool probe) {
  switch (reply.fault) {
    case fault::none:
      if (reply.status >= 400) return of_status(reply);
      if (!reply.has_message) return broken_tool;
      if (reply.message.error) return of_error_code(reply.message.error_code);
      return of_result(reply, policy, probe);
    case fault::not_ready:
    case fault::resolve_failed:
    case fault::connect_failed:
    case fault::connect_timed_out:
    case fault::tls_failed:
    case fault::start_failed:
      return {nothing, no_connection, ending::unreachable, reason::unreachable};
    case fault::deadline_before_send:
      return {nothing, {verdict::failure, true, true}, ending::timed_out, reason::timeout};
    case fault::overloaded:
      return {nothing, nothing, ending::refused, reason::overloaded};
    case fault::cancelled:
      return {nothing, nothing, ending::cancelled, reason::none};
    case fault::deadline:
      return {bad_and_slow, bad_and_slow, ending::timed_out, reason::timeout};
    case fault::deadline_after_head:
      return {bad_and_slow, good, ending::timed_out, reason::timeout};
    case fault::lost:
      // A server that began to answer was there; a child that ended is not, whatever it said before.
      if (over_http(reply) && reply.head_seen) return broken_tool;
      return {nothing, no_connection, ending::failed, reason::upstream_error};
    case fault::session_lost:
      return {nothing, bad, ending::failed, reason::upstream_error};
    case fault::bad_status:
      return of_status(reply);
    case fault::bad_media_type:
    case fault::bad_message:
      return broken_tool;
    case fault::too_large:
      // The limit is ours: one large answer is no illness.
      return {nothing, good, ending::failed, reason::upstream_error};
  }
  return broken_tool;
}

bool holds_error_text(std::string_view result, const port::tool_policy& policy) {
  error_code error;
  const auto parsed = boost::json::parse(result, error);
  if (error || !parsed.is_object()) return false;
  const auto* content = parsed.get_object().if_contains("content");
  if (content == nullptr || !content->is_array()) return false;
  return std::ranges::any_of(content->get_array(), [&](const boost::json::value& block) {
    const auto* object = block.if_object();
    const auto* text = object != nullptr ? object->if_contains("text") : nullptr;
    if (text == nullptr || !text->is_string()) return false;
    const std::string_view words = text->get_string();
    return std::ranges::any_of(policy.error_text,
                               [&](const std::string& wanted) { return words.find(wanted) != std::string_view::npos; });
  });
}

}  // namespace switchgear::call
