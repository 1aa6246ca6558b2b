#include "call/known_arguments.hpp"

#include "base/result.hpp"
#include "cascade/placeholder.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <set>

namespace switchgear::call {
namespace {

namespace json = boost::json;

/// Null if nobody can tell from this schema which arguments there are. `none` is what a closed one without any has.
const json::object* properties_of(const json::object& schema, const json::object& none) {
  constexpr std::array<std::string_view, 6> open_ends = {"$ref", "allOf", "anyOf", "oneOf", "patternProperties", "if"};
  const auto has = [&](std::string_view member) { return schema.contains(member); };
  if (std::ranges::any_of(open_ends, has)) return nullptr;
  if (const auto* properties = schema.if_contains("properties")) return properties->if_object();
  const auto* additional = schema.if_contains("additionalProperties");
  const bool closed = additional != nullptr && additional->is_bool() && !additional->get_bool();
  return closed ? &none : nullptr;
}

}  // namespace

std::vector<std::string> unknown_arguments(std::string_view definition, const std::vector<std::string>& paths) {
  if (paths.empty()) return {};
  json::parse_options deep;
  deep.max_depth = 128;
  error_code error;
  const json::value listed = json::parse(definition, error, {}, deep);
  const auto* tool = error ? nullptr : listed.if_object();
  const auto* schema = tool != nullptr ? tool->if_contains("inputSchema") : nullptr;
  if (schema == nullptr || !schema->is_object()) return {};
  const json::object none;
  const json::object* properties = properties_of(schema->get_object(), none);
  if (properties == nullptr) return {};
  std::set<std::string> unknown;
  for (const std::string& path : paths) {
    std::string name = cascade::first_member(path);
    if (!properties->contains(name)) unknown.insert(std::move(name));
  }
  return {unknown.begin(), unknown.end()};
}

}  // namespace switchgear::call
