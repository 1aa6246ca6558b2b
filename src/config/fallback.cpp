#include "config/fallback.hpp"

#include "cascade/template.hpp"
#include "config/gateway.hpp"
#include "config/kinds.hpp"
#include "route/names.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <cmath>
#include <set>
#include <variant>

namespace switchgear::config {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

bool looks_like_number(std::string_view text) {
  return !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9')) &&
         text.find_first_not_of("0123456789+-.eE") == text.npos;
}

/// A value of the document as JSON: what stands in quotes is a text, the rest is what JSON would see in it.
std::optional<json::value> to_json(const field& from) {
  switch (from.at().what) {
    case node::kind::null:
      return json::value(nullptr);
    case node::kind::scalar: {
      auto text = from.text();
      if (!text) return std::nullopt;
      if (from.at().quoted) return json::value(*text);
      if (*text == "true" || *text == "false") return json::value(*text == "true");
      if (!looks_like_number(*text)) return json::value(*text);
      boost::system::error_code error;
      json::value number = json::parse(*text, error);
      if (error) return json::value(*text);
      if (number.is_double() && !std::isfinite(number.get_double())) {
        from.fail("is a number that is too large; write it in quotes to mean a text");
        return std::nullopt;
      }
      return number;
    }
    case node::kind::list: {
      const auto items = from.items();
      if (!items) return std::nullopt;
      json::array all;
      for (const field& item : *items) {
        auto value = to_json(item);
        if (!value) return std::nullopt;
        all.push_back(*std::move(value));
      }
      return json::value(std::move(all));
    }
    case node::kind::map: {
      const auto members = from.members();
      if (!members) return std::nullopt;
      json::object all;
      for (const field::member& member : *members) {
        auto value = to_json(member.value);
        if (!value) return std::nullopt;
        all[member.name] = *std::move(value);
      }
      return json::value(std::move(all));
    }
  }
  return std::nullopt;
}

/// A mapping of the document, kept as the text of a JSON object.
kind<std::string> a_json_object() {
  kind<std::string> made{"mapping", "", {}, {}};
  made.read = [](const field& from) -> std::optional<std::string> {
    if (from.at().what != node::kind::map) {
      from.fail("a mapping is needed, as in {key: value}");
      return std::nullopt;
    }
    const auto value = to_json(from);
    if (!value) return std::nullopt;
    return json::serialize(*value);
  };
  made.write = [](const std::string& text) { return text; };  // JSON is YAML
  return made;
}

kind<std::string> arguments_template() {
  kind<std::string> made = a_json_object();
  made.read = [read = made.read](const field& from) -> std::optional<std::string> {
    auto text = read(from);
    if (!text) return std::nullopt;
    if (const auto compiled = cascade::argument_template::compile(*text); !compiled) {
      from.fail(compiled.error().message());
      return std::nullopt;
    }
    return text;
  };
  return made;
}

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

/// Reads the mapping below a step's word.
template <class Step>
std::optional<cascade::step> read_step(const field& from, const keys<Step>& table) {
  const std::size_t errors_before = from.into().errors.size();
  Step made;
  for (const auto& apply : read_section(from, table)) apply(made);
  if (from.into().errors.size() != errors_before) return std::nullopt;
  return cascade::step(std::move(made));
}

std::optional<cascade::step> read_step(const field& from) {
  const auto members = from.members();
  if (!members) return std::nullopt;
  if (members->size() != 1) {
    from.fail("a step has exactly one key: cache, tool or static");
    return std::nullopt;
  }
  const field::member& only = members->front();
  if (only.name == "cache") return read_step(only.value, cache_step_keys());
  if (only.name == "tool") {
    auto step = read_step(only.value, tool_step_keys());
    if (step && std::get<cascade::tool_step>(*step).name.empty()) {
      only.fail("`name` is missing: the exported name of the tool to call instead");
      return std::nullopt;
    }
    return step;
  }
  if (only.name == "static") {
    auto step = read_step(only.value, fixed_step_keys());
    if (step && std::get<cascade::fixed_step>(*step).text.empty()) {
      only.fail("`text` is missing: what the agent is to read");
      return std::nullopt;
    }
    return step;
  }
  report_unknown(only, {"cache", "tool", "static"});
  return std::nullopt;
}

change<port::tool_policy> read_plan(const field& from) {
  const auto items = from.items();
  if (!items) return {};
  if (items->size() > cascade::plan::max_steps) {
    from.fail("has more than " + std::to_string(cascade::plan::max_steps) + " steps");
    return {};
  }
  cascade::plan made;
  for (const field& item : *items) {
    if (auto step = read_step(item)) made.steps.push_back(*std::move(step));
  }
  if (made.steps.size() != items->size()) return {};
  return [made = std::move(made)](port::tool_policy& to) { to.fallback = made; };
}

std::string in_one_line(const std::vector<shown>& members) {
  std::string text = "{";
  for (const shown& each : members) text += (text.size() > 1 ? ", " : "") + each.name + ": " + each.value;
  return text + '}';
}

shown show_step(const cascade::step& which) {
  if (const auto* cache = std::get_if<cascade::cache_step>(&which)) {
    return {"- cache", in_one_line(show_section(*cache, cache_step_keys())), {}};
  }
  if (const auto* tool = std::get_if<cascade::tool_step>(&which)) {
    return {"- tool", in_one_line(show_section(*tool, tool_step_keys())), {}};
  }
  return {"- static", in_one_line(show_section(std::get<cascade::fixed_step>(which), fixed_step_keys())), {}};
}

}  // namespace

const keys<cascade::cache_step>& cache_step_keys() {
  static const keys<cascade::cache_step> table{
      value_key<cascade::cache_step>(
          "max_age", a_duration(1s, 24h), [](auto& to) -> auto& { return to.max_age; },
          "An older answer is not given."),
  };
  return table;
}

const keys<cascade::tool_step>& tool_step_keys() {
  static const keys<cascade::tool_step> table{
      value_key<cascade::tool_step>(
          "name", a_tool_name(), [](auto& to) -> auto& { return to.name; },
          "Exported name of the tool to call instead. Needed."),
      value_key<cascade::tool_step>(
          "arguments", arguments_template(), [](auto& to) -> auto& { return to.arguments; },
          "Its arguments. `\"{{name}}\"` stands for an argument of the original call. Not set: "
          "the original arguments."),
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

void check_fallback(const field& at, std::string_view pattern, const port::tool_policy& policy) {
  const field place = at.nearest("fallback");
  const auto place_of = [&](std::size_t step) {
    if (place.at().what != node::kind::list || step >= place.at().items.size()) return place;
    return field(place.at().items[step], place.key() + '[' + std::to_string(step + 1) + ']', place.into());
  };
  std::set<std::string_view> targets;
  bool after_fixed = false;
  for (std::size_t i = 0; i < policy.fallback.steps.size(); ++i) {
    const cascade::step& step = policy.fallback.steps[i];
    if (after_fixed) {
      place_of(i).warn("comes after a static answer; it is tried only if that does not fit the tool's outputSchema");
    }
    if (const auto* tool = std::get_if<cascade::tool_step>(&step)) {
      if (tool->name == pattern) {
        place_of(i).fail("names the tool itself; name another tool");
      } else if (matches(pattern, tool->name)) {
        place_of(i).warn("names a tool that the pattern covers too; for that tool the step is left out");
      }
      if (!targets.insert(tool->name).second)
        place_of(i).warn("names a tool that an earlier step tries; it is tried once");
    } else if (std::holds_alternative<cascade::fixed_step>(step)) {
      after_fixed = true;
    } else if (policy.read_only == false) {
      place_of(i).warn("can never answer: `read_only` is false, and only answers of tools that read are kept");
    }
  }
}

}  // namespace switchgear::config
