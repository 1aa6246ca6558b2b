#include "call/explain.hpp"

#include "cascade/wording.hpp"
#include "protocol/text.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

namespace switchgear::call {
namespace {

using refusal = cascade::account::refusal;

constexpr std::size_t longest_detail =
    600;  // reply::detail has an address and a status beside 300 characters of a body

refusal why_refused(const attempt& primary) {
  if (!primary.refused) return refusal::none;
  switch (primary.refusal.why) {
    case breaker::refusal::reason::forced:
      return refusal::operator_closed;
    case breaker::refusal::reason::half_open:
    case breaker::refusal::reason::ramp:
      return refusal::probing;
    case breaker::refusal::reason::open:
      break;
  }
  return refusal::open;
}

bool works(const tool& other) {
  return other.gate->state() == breaker::state::closed && other.server_gate->state() == breaker::state::closed;
}

bool was_a_step(const tool& called, const tool& other) {
  return std::ranges::any_of(called.steps, [&](const prepared_step& step) { return step.target == &other; });
}

// After a call whose outcome is unknown, another tool could do the same thing a second time: none is offered.
std::vector<std::string_view> alternatives(const standing& how) {
  std::vector<std::string_view> names;
  if (how.machine.outcome_unknown()) return names;
  for (const tool* other : how.called.alternatives) {
    if (works(*other) && !was_a_step(how.called, *other)) names.push_back(other->entry->name);
  }
  return names;
}

// When to try again: never a promise of a moment for what an operator or a credential decides.
std::optional<duration> retry_after(const attempt& primary, bool shutting_down) {
  // Our own limit: another call may have ended by then, and another replica may be there.
  if (shutting_down || primary.what.reason == cascade::reason::overloaded) return std::chrono::seconds(1);
  if (!primary.refused) return primary.reply.retry_after;
  if (primary.refusal.why == breaker::refusal::reason::forced) return std::nullopt;
  return primary.refusal.retry_after;
}

std::optional<duration> since(const attempt& primary, time_point now) {
  if (!primary.refused || primary.refusal.state == breaker::state::closed) return std::nullopt;
  return std::max(now - primary.refusal.since, duration::zero());
}

// The timer wheel fires some milliseconds late; the limit is what was promised.
duration waited(const standing& how) {
  const port::timeouts& limits = how.called.policy.timeout;
  switch (how.primary.timer) {
    case cascade::timer::first_byte:
      return limits.first_byte;
    case cascade::timer::idle:
      return limits.idle;
    case cascade::timer::total:
      return limits.total;
    case cascade::timer::probe:
      return how.primary.took;
    default:
      return std::min(how.primary.took, how.allowed);
  }
}

std::string valid_utf8(std::string_view bytes) {
  return protocol::unquoted(protocol::quoted(protocol::head(bytes, longest_detail))).value();
}

// Read from the body: message::error_message may point into the memory of whoever read the message.
std::string error_text(const port::reply& reply) {
  error_code error;
  const auto parsed = boost::json::parse(reply.message.error.in(reply.body.view()), error);
  if (error || !parsed.is_object()) return {};
  const auto* text = parsed.get_object().if_contains("message");
  return text != nullptr && text->is_string() ? std::string(text->get_string()) : std::string();
}

}  // namespace

std::string describe(const port::reply& reply) {
  std::string out;
  if (reply.status >= 400 && reply.detail.find(std::to_string(reply.status)) == std::string::npos) {
    out = "HTTP " + std::to_string(reply.status);
  }
  if (reply.has_message && reply.message.error) {
    if (!out.empty()) out += ", ";
    out += "JSON-RPC error " + std::to_string(reply.message.error_code) + ", " + valid_utf8(error_text(reply));
  }
  if (!reply.detail.empty()) {
    if (!out.empty()) out += ": ";
    out += valid_utf8(reply.detail);
  }
  return out;
}

cascade::marker mark(const standing& how, cascade::served_by who) {
  cascade::marker made;
  made.served_by = who;
  made.reason = how.shutting_down ? cascade::reason::overloaded : how.machine.reason();
  made.timer = how.primary.timer;
  made.state = name(how.primary.refused ? how.primary.refusal.state : how.called.gate->state());
  if (who == cascade::served_by::none) made.since = since(how.primary, how.now);
  made.retry_after = retry_after(how.primary, how.shutting_down);
  made.outcome_unknown = how.machine.outcome_unknown();
  made.steps = how.machine.steps();
  return made;
}

unsigned in_seconds(const std::optional<duration>& retry_after) {
  if (!retry_after) return 0;
  const auto whole = std::chrono::ceil<std::chrono::seconds>(*retry_after).count();
  return static_cast<unsigned>(std::clamp<std::int64_t>(whole, 1, std::numeric_limits<std::int32_t>::max()));
}

std::string explain(const standing& how) {
  const std::string detail = describe(how.primary.reply);
  cascade::account told;
  told.tool = how.called.entry->name;
  told.server = how.called.entry->alias;
  told.why_refused = why_refused(how.primary);
  told.server_scope = how.primary.refused && how.primary.refusal.gate == how.called.server_gate;
  told.reason = how.shutting_down ? cascade::reason::overloaded : how.machine.primary_reason();
  told.shutting_down = how.shutting_down;
  told.timer = how.primary.timer;
  told.waited = waited(how);
  told.tries = how.primary.tries;
  told.since = since(how.primary, how.now);
  told.retry_after = retry_after(how.primary, how.shutting_down);
  told.outcome_unknown = how.machine.outcome_unknown();
  told.detail = detail;
  told.fallback = &how.called.policy.fallback;
  told.steps = how.machine.steps();
  told.step_details = how.details;
  told.alternatives = alternatives(how);
  return failure_text(told);
}

}  // namespace switchgear::call
