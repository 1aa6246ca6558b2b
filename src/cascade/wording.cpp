#include "cascade/wording.hpp"

#include "cascade/url_template.hpp"

#include <chrono>

namespace switchgear::cascade {
namespace {

std::string join(std::string_view a, std::string_view b, std::string_view c = {}, std::string_view d = {},
                 std::string_view e = {}) {
  std::string out;
  out.reserve(a.size() + b.size() + c.size() + d.size() + e.size());
  return out.append(a).append(b).append(c).append(d).append(e);
}

void add_sentence(std::string& out, std::string_view sentence) {
  if (!out.empty()) out += ' ';
  out += sentence;
  if (!out.ends_with('.')) out += '.';
}

std::string with_detail(std::string sentence, std::string_view detail) {
  return detail.empty() ? sentence : join(sentence, ": ", detail);
}

std::string the(const account& what) {
  return join("the ", what.noun, " ", what.tool);
}

std::string at_the_beginning(std::string sentence) {
  sentence[0] = 'T';
  return sentence;
}

std::string refused(const account& what) {
  const std::string who = what.server_scope ? join("the server ", what.server, ", which has ", join(the(what), ","))
                                            : join(the(what), " (server ", what.server, ")");
  switch (what.why_refused) {
    case account::refusal::operator_closed:
      return join("Not called: an operator has switched off ", who);
    case account::refusal::probing:
      return join("Not called: ", who, " has failed and is being tried with a few calls, of which this is none");
    case account::refusal::none:
    case account::refusal::open:
      break;
  }
  return join("Not called: ", who, " keeps failing, so calls to it are stopped");
}

std::string too_late(const account& what) {
  const std::string time = readable(what.waited);
  switch (what.timer) {
    case timer::first_byte:
      return join("sent nothing back for ", time, " (its first_byte timeout)");
    case timer::idle:
      return join("began to answer and then fell silent for ", time, " (its idle timeout)");
    case timer::total:
      return join("did not answer within ", time, " (its timeout for one try)");
    case timer::probe:
      return join("did not answer a trial call within ", time);
    default:
      return join("did not answer within ", time);
  }
}

std::string cause(const account& what) {
  switch (what.reason) {
    case reason::open:
      return refused(what);
    case reason::timeout:
      return with_detail(join(at_the_beginning(the(what)), join(" (server ", what.server, ") "), too_late(what)),
                         what.detail);
    case reason::unreachable:
      return with_detail(join("Not called: the server ", what.server, ", which has ", the(what), ", cannot be reached"),
                         what.detail);
    case reason::throttled:
      return with_detail(join("The server ", what.server, " takes no more calls of ", what.tool, " at the moment"),
                         what.detail);
    case reason::denied:
      return with_detail(join("The server ", what.server, " does not let this caller use ", what.tool), what.detail);
    case reason::overloaded:
      return what.shutting_down
                 ? std::string("The gateway is shutting down")
                 : with_detail(join("The gateway has no room for more calls of ", what.tool), what.detail);
    case reason::none:
      return join("The call of ", what.tool, " was given up by its caller");
    case reason::upstream_error:
    case reason::exhausted:
      break;
  }
  return with_detail(join(at_the_beginning(the(what)), " failed at the server ", what.server), what.detail);
}

std::string_view outcome(ending how) {
  switch (how) {
    case ending::miss:
      return "no answer stored";
    case ending::unfit:
      return "its answer does not fit";
    case ending::unmapped:
      return "its answer lacks what is needed of it";
    case ending::no_argument:
      return "the call lacks an argument that it needs";
    case ending::no_time:
      return "no time left";
    case ending::unsafe:
      return "not safe to run now";
    case ending::repeated:
      return "tried before";
    case ending::timed_out:
      return "no answer in time";
    default:
      return name(how);
  }
}

// Entry i of a trail is step i - 1 of the plan: the machine leaves none out.
std::string tried(const account& what) {
  std::string out = "Fallbacks tried: ";
  for (std::size_t i = 1; i < what.steps.size; ++i) {
    if (i > 1) out += ", ";
    const step& which = what.fallback->steps[i - 1];
    out += name(which);
    if (const auto* tool = std::get_if<tool_step>(&which)) out += ' ' + tool->name;
    if (const auto* http = std::get_if<http_step>(&which)) out.append(" ").append(authority_of(http->url));
    out.append(" (").append(outcome(what.steps.entries[i].how));
    const bool has_detail = i - 1 < what.step_details.size() && !what.step_details[i - 1].empty();
    if (has_detail) out.append(": ").append(what.step_details[i - 1]);
    out += ')';
  }
  return out;
}

std::string listed(const std::vector<std::string_view>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " or " : ", ";
    out += names[i];
  }
  return out;
}

}  // namespace

std::string readable(duration length) {
  using namespace std::chrono;
  const auto ms = ceil<milliseconds>(length);
  if (ms < seconds(1)) return std::to_string(std::max<std::int64_t>(ms.count(), 0)) + " ms";
  const auto total = ceil<seconds>(length).count();
  if (total < 60) return std::to_string(total) + " s";
  if (total < 3600) {
    return std::to_string(total / 60) + " min" + (total % 60 != 0 ? " " + std::to_string(total % 60) + " s" : "");
  }
  const auto minutes_left = total % 3600 / 60;
  return std::to_string(total / 3600) + " h" + (minutes_left != 0 ? " " + std::to_string(minutes_left) + " min" : "");
}

std::string failure_text(const account& what) {
  std::string out;
  std::string first = cause(what);
  if (what.since) first += " (for " + readable(*what.since) + " now)";
  add_sentence(out, first);
  if (what.tries > 1) add_sentence(out, "It was tried " + std::to_string(what.tries) + " times");
  if (what.outcome_unknown) {
    add_sentence(out, "It is not known whether the call took effect; find out before you repeat it");
  }
  if (what.fallback != nullptr && what.steps.size > 1) add_sentence(out, tried(what));
  if (what.retry_after) add_sentence(out, "Retry in " + readable(*what.retry_after));
  if (!what.alternatives.empty()) add_sentence(out, "You can use instead: " + listed(what.alternatives));
  return out;
}

std::string note(std::string_view tool, const marker& what) {
  std::string out = "[Switchgear: ";
  switch (what.served_by) {
    case served_by::cache:
      out += "this is a cached answer";
      if (what.age) out += ", " + readable(*what.age) + " old";
      break;
    case served_by::tool:
      out += "this answer comes from another tool";
      break;
    case served_by::http:
      out += "this answer comes from another service";
      break;
    case served_by::model:
      out += "this answer was written by a model";
      break;
    default:
      out += "this is a prepared answer";
      break;
  }
  out.append(", since ").append(tool).append(" is not answering (").append(name(what.reason)).append(")");
  if (what.outcome_unknown) out += "; it is not known whether the call took effect";
  if (what.retry_after) out += "; it may be back in " + readable(*what.retry_after);
  return out + ".]";
}

std::string loop_text(std::string_view tool, unsigned failures, duration window, std::string_view words) {
  std::string out = join("Not called: ", tool, " was called with exactly these arguments ");
  out += failures == 1 ? "once" : std::to_string(failures) + " times";
  out += " in the last " + readable(window) + ", and failed" + (failures == 1 ? "." : " each time.");
  if (!words.empty()) out.append(" The last error began: \"").append(words).append("\".");
  return out +
         " The same call would fail again. Change the arguments, use another tool, or go on without this answer and "
         "say "
         "so.";
}

std::string model_prompt(std::string_view tool, std::string_view description, std::string_view arguments) {
  std::string out =
      join("The tool ", tool,
           " cannot be reached. Answer in its place from what you know. Say so where you do not know, and "
           "never say that something was done.");
  if (!description.empty()) out.append("\n\nWhat the tool does: ").append(description);
  return out.append("\n\nIts arguments, as JSON: ").append(arguments.empty() ? "{}" : arguments);
}

}  // namespace switchgear::cascade
