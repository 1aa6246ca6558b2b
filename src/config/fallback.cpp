#include "config/fallback.hpp"

#include "config/breaker_keys.hpp"
#include "config/gateway.hpp"
#include "config/http_step_keys.hpp"
#include "config/kinds.hpp"
#include "config/template_values.hpp"
#include "route/names.hpp"

#include <algorithm>
#include <functional>
#include <variant>

namespace switchgear::config {
namespace {

using namespace std::chrono_literals;

kind<std::string> a_tool_name() {
  kind<std::string> made{"text", "an exported tool name", {}, {}};
  made.read = [](const field& from) -> std::optional<std::string> {
    auto text = from.text();
    if (text && !route::is_exportable(*text)) {
      from.fail("is not an exported tool name; write 1 to 64 letters, digits, _ and -, as in backup__query");
      return std::nullopt;
    }
    return text;
  };
  made.write = [](const std::string& text) { return text.empty() ? std::string() : quote(text); };
  return made;
}

/// False, and reported, if there is a `result` that takes nothing.
bool says_what_it_takes(const field& step, const cascade::result_mapping& result) {
  if (step.at().find("result") == nullptr || !result.empty()) return true;
  step.nearest("result").fail("is empty; write `text`, `structured` or both, or leave `result` out");
  return false;
}

bool can_be_used(const field& step, const cascade::cache_step& read) {
  if (read.fresh_for <= read.max_age) return true;
  step.nearest("fresh_for")
      .fail("is longer than `max_age`, which is " + format_duration(read.max_age) +
            "; a fresh answer must not be too old");
  return false;
}

bool can_be_used(const field& step, const cascade::tool_step& read) {
  if (read.name.empty()) step.fail("`name` is missing: the exported name of the tool to call instead");
  return !read.name.empty() && says_what_it_takes(step, read.result);
}

bool can_be_used(const field& step, const cascade::http_step& read) {
  return check_http_step(step, read) && says_what_it_takes(step, read.result);
}

bool can_be_used(const field& step, const cascade::fixed_step& read) {
  if (read.text.empty()) step.fail("`text` is missing: what the agent is to read");
  return !read.text.empty();
}

/// A step, once the settings that breakers start from are known.
using step_maker = std::function<cascade::step(const breaker::settings& common)>;

/// Reads the mapping below a step's word.
template <class Step>
std::optional<step_maker> read_step(const field& from, const keys<Step>& table) {
  const std::size_t errors_before = from.into().errors.size();
  auto changes = read_section(from, table);
  const auto make = [changes = std::move(changes)](const breaker::settings& common) {
    Step made;
    if constexpr (requires { made.breaker; }) made.breaker = common;
    for (const auto& apply : changes) apply(made);
    return made;
  };
  if (from.into().errors.size() != errors_before || !can_be_used(from, make({}))) return std::nullopt;
  return make;
}

std::optional<step_maker> read_step(const field& from) {
  const auto members = from.members();
  if (!members) return std::nullopt;
  if (members->size() != 1) {
    from.fail("a step has exactly one key: cache, tool, http or static");
    return std::nullopt;
  }
  const field::member& only = members->front();
  if (only.name == "cache") return read_step(only.value, cache_step_keys());
  if (only.name == "tool") return read_step(only.value, tool_step_keys());
  if (only.name == "http") return read_step(only.value, http_step_keys());
  if (only.name == "static") return read_step(only.value, fixed_step_keys());
  if (only.name == "model") {
    only.fail("needs a model, and this version can ask none; write cache, tool, http or static");
    return std::nullopt;
  }
  report_unknown(only, {"cache", "tool", "http", "static"});
  return std::nullopt;
}

change<port::tool_policy> read_plan(const field& from) {
  const auto items = from.items();
  if (!items) return {};
  if (items->size() > cascade::plan::max_steps) {
    from.fail("has more than " + std::to_string(cascade::plan::max_steps) + " steps");
    return {};
  }
  std::vector<step_maker> makers;
  for (const field& item : *items) {
    if (auto step = read_step(item)) makers.push_back(*std::move(step));
  }
  if (makers.size() != items->size()) return {};
  return [makers = std::move(makers)](port::tool_policy& to) {
    to.fallback.steps.clear();
    for (const step_maker& make : makers) to.fallback.steps.push_back(make(to.step_breaker));
  };
}

void check_target(const field& at, std::string_view pattern, const cascade::plan& plan, std::size_t number) {
  const cascade::step& step = plan.steps[number];
  if (const auto* tool = std::get_if<cascade::tool_step>(&step)) {
    if (tool->name == pattern) {
      at.fail("names the tool itself; name another tool");
    } else if (matches(pattern, tool->name)) {
      at.warn("names a tool that the pattern covers too; for that tool the step is left out");
    }
  }
  const auto end = plan.steps.begin() + static_cast<std::ptrdiff_t>(number);
  if (std::any_of(plan.steps.begin(), end, [&](const auto& earlier) { return same_target(earlier, step); })) {
    at.warn("asks what an earlier step asks; it is tried once");
  }
}

std::string in_one_line(const std::vector<shown>& members) {
  std::string text = "{";
  for (const shown& each : members) {
    const std::string value = each.members.empty() ? each.value : in_one_line(each.members);
    text += (text.size() > 1 ? ", " : "") + each.name + ": " + value;
  }
  return text + '}';
}

shown show_step(const cascade::step& which) {
  if (const auto* cache = std::get_if<cascade::cache_step>(&which)) {
    return {"- cache", in_one_line(show_section(*cache, cache_step_keys())), {}};
  }
  if (const auto* tool = std::get_if<cascade::tool_step>(&which)) {
    return {"- tool", in_one_line(show_section(*tool, tool_step_keys())), {}};
  }
  if (const auto* http = std::get_if<cascade::http_step>(&which)) {
    return {"- http", in_one_line(show_section(*http, http_step_keys())), {}};
  }
  return {"- static", in_one_line(show_section(std::get<cascade::fixed_step>(which), fixed_step_keys())), {}};
}

}  // namespace

const keys<cascade::cache_step>& cache_step_keys() {
  static const keys<cascade::cache_step> table{
      value_key<cascade::cache_step>(
          "max_age", a_duration(1s, 24h), [](auto& to) -> auto& { return to.max_age; },
          "An older answer is not given."),
      value_key<cascade::cache_step>(
          "fresh_for", a_duration(1ms, 24h, zero::off), [](auto& to) -> auto& { return to.fresh_for; },
          "While this gateway has an answer of its own that is no older, the tool is not called. Must not be over "
          "`max_age`. `0`: the tool is always called."),
      value_key<cascade::cache_step>(
          "share", one_of<cascade::share>({{"principal", cascade::share::principal}, {"all", cascade::share::all}}),
          [](auto& to) -> auto& { return to.share; },
          "Whose answers are given: `principal` those that the caller got, `all` those that anybody got, of a tool "
          "that answers every caller alike."),
  };
  return table;
}

const keys<cascade::result_mapping>& result_keys() {
  using target = cascade::result_mapping;
  static const keys<target> table{
      value_key<target>(
          "text", a_text_template(), [](auto& to) -> auto& { return to.text; },
          "The stand-in's one text block; `{{/content/0/text}}` is a JSON Pointer into the answer. Not set: "
          "`structured` as text."),
      value_key<target>(
          "structured", a_json_template(), [](auto& to) -> auto& { return to.structured; },
          "The stand-in's `structuredContent`, with placeholders that point into the answer."),
  };
  return table;
}

const keys<cascade::tool_step>& tool_step_keys() {
  static const keys<cascade::tool_step> table{
      value_key<cascade::tool_step>(
          "name", a_tool_name(), [](auto& to) -> auto& { return to.name; },
          "Exported name of the tool to call instead. Needed."),
      value_key<cascade::tool_step>(
          "arguments", a_json_template(), [](auto& to) -> auto& { return to.arguments; },
          "Its arguments. `\"{{name}}\"` stands for an argument of the original call, `\"{{/filter/0/name}}\"` (a JSON "
          "Pointer) for any value in them. Not set: the original arguments."),
      section_key<cascade::tool_step>(
          "result", result_keys(), [](auto& to) -> auto& { return to.result; },
          "What of its result is taken. Not set: the result as it is."),
      value_key<cascade::tool_step>(
          "minimum_time", a_duration(1ms, 1min), [](auto& to) -> auto& { return to.minimum_time; },
          "With less of the deadline left the step is not begun. What comes before it is given up in time for that, "
          "unless the steps behind need half of the time or more."),
  };
  return table;
}

const keys<cascade::fixed_step>& fixed_step_keys() {
  static const keys<cascade::fixed_step> table{
      value_key<cascade::fixed_step>(
          "text", a_long_text(), [](auto& to) -> auto& { return to.text; }, "What the agent is to read. Needed."),
      value_key<cascade::fixed_step>(
          "structured", a_json_object(), [](auto& to) -> auto& { return to.structured; },
          "The answer's `structuredContent`. A tool with an `outputSchema` needs one that fits it."),
  };
  return table;
}

key<port::tool_policy> fallback_key() {
  key<port::tool_policy> made{"fallback", "list of steps",
                              "up to 8",  "What stands in when the tool does not answer, tried in this order.",
                              {},         {}};
  made.read = read_plan;
  made.show = [](const port::tool_policy& policy) -> std::optional<shown> {
    if (policy.fallback.steps.empty()) return std::nullopt;
    shown all{"fallback", {}, {}};
    for (const cascade::step& each : policy.fallback.steps) all.members.push_back(show_step(each));
    return all;
  };
  return made;
}

field place_of_step(const field& rule, std::size_t number) {
  const field place = rule.nearest("fallback");
  if (place.at().what != node::kind::list || number >= place.at().items.size()) return place;
  return {place.at().items[number], place.key() + '[' + std::to_string(number + 1) + ']', place.into()};
}

void check_fallback(const field& at, std::string_view pattern, const port::tool_policy& policy) {
  bool after_fixed = false;
  for (std::size_t i = 0; i < policy.fallback.steps.size(); ++i) {
    const cascade::step& step = policy.fallback.steps[i];
    const field here = place_of_step(at, i);
    if (after_fixed) {
      here.warn("comes after a static answer; it is tried only if that does not fit the tool's outputSchema");
    }
    if (cascade::minimum_time(step) >= policy.deadline) {
      here.warn("can never run: its `minimum_time` is not below the deadline of " + format_duration(policy.deadline));
    }
    check_target(here, pattern, policy.fallback, i);
    if (const auto* http = std::get_if<cascade::http_step>(&step); http != nullptr && breaker::check(http->breaker)) {
      if (!breaker::check(policy.step_breaker)) check_breaker(here.nearest("http").nearest("breaker"), http->breaker);
    }
    if (std::holds_alternative<cascade::fixed_step>(step)) {
      after_fixed = true;
    } else if (std::holds_alternative<cascade::cache_step>(step) && policy.read_only == false) {
      here.warn("can never answer: `read_only` is false, and only answers of tools that read are kept");
    }
  }
}

}  // namespace switchgear::config
