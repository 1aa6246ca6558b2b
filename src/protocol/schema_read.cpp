#include "protocol/errc.hpp"
#include "protocol/schema_rules.hpp"

#include <boost/json/parse.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

namespace switchgear::protocol {

namespace {

namespace json = boost::json;

// More would be an attack, not a description of an answer.
constexpr std::size_t most_rules = 10'000;

struct bad_schema {
  std::string why;
};

[[noreturn]] void refuse(std::string_view key, std::string_view what) {
  throw bad_schema{std::string(key).append(": ").append(what)};
}

unsigned type_named(const json::value& name) {
  static constexpr std::pair<std::string_view, unsigned> types[] = {
      {"null", type_null},       {"boolean", type_boolean},
      {"integer", type_integer}, {"number", type_number | type_integer},
      {"string", type_string},   {"array", type_array},
      {"object", type_object}};
  for (const auto& [known, bit] : types) {
    if (name.is_string() && name.get_string() == known) return bit;
  }
  refuse("type", "unknown type");
}

double number(std::string_view key, const json::value& value) {
  if (!value.is_number()) refuse(key, "must be a number");
  return value.to_number<double>();
}

std::size_t count(std::string_view key, const json::value& value) {
  const double given = number(key, value);
  if (given < 0 || std::floor(given) != given) refuse(key, "must be a whole number, not negative");
  return given > 1e15 ? unlimited : static_cast<std::size_t>(given);
}

const json::array& list(std::string_view key, const json::value& value) {
  if (!value.is_array()) refuse(key, "must be an array");
  return value.get_array();
}

const json::object& object(std::string_view key, const json::value& value) {
  if (!value.is_object()) refuse(key, "must be an object");
  return value.get_object();
}

std::vector<std::string> names(std::string_view key, const json::value& value) {
  std::vector<std::string> all;
  for (const json::value& each : list(key, value)) {
    if (!each.is_string()) refuse(key, "must be an array of strings");
    all.emplace_back(each.get_string());
  }
  return all;
}

// Exceptions stay inside this file: a schema is read once, and half of it is of no use.
class schema_reader {
 public:
  explicit schema_reader(const json::value& document) : document_(document) { collect_anchors(document); }

  // One after the other and not one inside the other: a chain of references must not cost our stack.
  rule_set read() {
    set_.root = rule_of(document_);
    for (rule_id next = 0; next < sources_.size(); ++next) set_.rules.push_back(rule_from(*sources_[next]));
    return std::move(set_);
  }

 private:
  // A schema gets its number when it is first met, so that one which refers to itself ends.
  rule_id rule_of(const json::value& value) {
    const auto [known, fresh] = known_.emplace(&value, static_cast<rule_id>(sources_.size()));
    if (fresh) {
      if (sources_.size() == most_rules) refuse("schema", "too large");
      sources_.push_back(&value);
    }
    return known->second;
  }

  rule rule_from(const json::value& value) {
    rule made;
    if (value.is_bool()) {
      made.never = !value.get_bool();
      return made;
    }
    const json::object& members = object("schema", value);
    for (const auto& member : members) read_keyword(made, member.key(), member.value(), members);
    return made;
  }

  std::vector<rule_id> rules_of(std::string_view key, const json::value& value) {
    std::vector<rule_id> all;
    for (const json::value& each : list(key, value)) all.push_back(rule_of(each));
    return all;
  }

  void read_keyword(rule& out, std::string_view key, const json::value& value, const json::object& siblings) {
    if (read_value_keyword(out, key, value) || read_array_keyword(out, key, value, siblings) ||
        read_object_keyword(out, key, value)) {
      return;
    }
    if (key == "$ref") {
      out.reference = rule_of(target(value));
    } else if (key == "allOf") {
      out.all_of = rules_of(key, value);
    } else if (key == "anyOf") {
      out.any_of = rules_of(key, value);
    } else if (key == "oneOf") {
      out.one_of = rules_of(key, value);
    } else if (key == "not") {
      out.not_this = rule_of(value);
    } else if (key == "if") {
      out.condition = rule_of(value);
    } else if (key == "then") {
      out.then = rule_of(value);
    } else if (key == "else") {
      out.otherwise = rule_of(value);
    }
  }

  bool read_value_keyword(rule& out, std::string_view key, const json::value& value) {
    if (key == "type") {
      out.types = 0;
      if (value.is_array()) {
        for (const json::value& each : value.get_array()) out.types |= type_named(each);
      } else {
        out.types = type_named(value);
      }
    } else if (key == "const") {
      out.constant = value;
    } else if (key == "enum") {
      out.choices = list(key, value);
    } else if (key == "minimum") {
      out.minimum = number(key, value);
    } else if (key == "maximum") {
      out.maximum = number(key, value);
    } else if (key == "exclusiveMinimum") {
      out.above = number(key, value);
    } else if (key == "exclusiveMaximum") {
      out.below = number(key, value);
    } else if (key == "multipleOf") {
      out.multiple_of = number(key, value);
      if (*out.multiple_of <= 0) refuse(key, "must be above 0");
    } else if (key == "minLength") {
      out.length.least = count(key, value);
    } else if (key == "maxLength") {
      out.length.most = count(key, value);
    } else if (key == "pattern") {
      if (!value.is_string()) refuse(key, "must be a string");
      out.pattern = pattern::compile(std::string(value.get_string()));
    } else {
      return false;
    }
    return true;
  }

  bool read_array_keyword(rule& out, std::string_view key, const json::value& value, const json::object& siblings) {
    if (key == "prefixItems") {
      out.prefix = rules_of(key, value);
    } else if (key == "items") {
      // Up to 2019-09 an array here was what prefixItems is today, and additionalItems what items is.
      if (value.is_array()) {
        out.prefix = rules_of(key, value);
        const json::value* rest = siblings.if_contains("additionalItems");
        out.items = rest != nullptr ? rule_of(*rest) : no_rule;
      } else {
        out.items = rule_of(value);
      }
    } else if (key == "contains") {
      out.contains = rule_of(value);
    } else if (key == "minContains") {
      out.contained.least = count(key, value);
    } else if (key == "maxContains") {
      out.contained.most = count(key, value);
    } else if (key == "minItems") {
      out.elements.least = count(key, value);
    } else if (key == "maxItems") {
      out.elements.most = count(key, value);
    } else if (key == "uniqueItems") {
      out.unique = value.is_bool() && value.get_bool();
    } else {
      return false;
    }
    return true;
  }

  bool read_object_keyword(rule& out, std::string_view key, const json::value& value) {
    if (key == "properties") {
      for (const auto& each : object(key, value)) out.properties.emplace_back(each.key(), rule_of(each.value()));
      std::sort(out.properties.begin(), out.properties.end());
    } else if (key == "patternProperties") {
      read_pattern_properties(out, object(key, value));
    } else if (key == "additionalProperties") {
      out.other_properties = rule_of(value);
    } else if (key == "propertyNames") {
      out.names = rule_of(value);
    } else if (key == "required") {
      out.required = names(key, value);
    } else if (key == "minProperties") {
      out.members.least = count(key, value);
    } else if (key == "maxProperties") {
      out.members.most = count(key, value);
    } else if (key == "dependentRequired") {
      for (const auto& each : object(key, value))
        out.dependent_required.emplace_back(each.key(), names(key, each.value()));
    } else if (key == "dependentSchemas") {
      for (const auto& each : object(key, value)) out.dependent_schemas.emplace_back(each.key(), rule_of(each.value()));
    } else if (key == "dependencies") {  // draft 7: both in one
      for (const auto& each : object(key, value)) {
        if (each.value().is_array()) {
          out.dependent_required.emplace_back(each.key(), names(key, each.value()));
        } else {
          out.dependent_schemas.emplace_back(each.key(), rule_of(each.value()));
        }
      }
    } else {
      return false;
    }
    return true;
  }

  // A pattern that cannot be read could have allowed any member, so that the others must not be refused either.
  void read_pattern_properties(rule& out, const json::object& patterns) {
    for (const auto& each : patterns) {
      const rule_id id = rule_of(each.value());
      std::optional<pattern> made = pattern::compile(std::string(each.key()));
      if (made) {
        out.pattern_properties.emplace_back(std::move(*made), id);
      } else {
        out.lax_members = true;
      }
    }
  }

  const json::value& target(const json::value& reference) {
    if (!reference.is_string()) refuse("$ref", "must be a string");
    std::string_view to = reference.get_string();
    if (to.empty() || to.front() != '#') refuse(to, "a $ref may only point into the same schema");
    to.remove_prefix(1);
    if (!to.empty() && to.front() != '/') {
      const auto anchor = anchors_.find(to);
      if (anchor == anchors_.end()) refuse(to, "a $ref points to no such anchor");
      return *anchor->second;
    }
    boost::system::error_code fault;
    const json::value* found = document_.find_pointer(without_percent(to), fault);
    if (found == nullptr) refuse(to, "a $ref points to nothing");
    return *found;
  }

  // A reference is a URI fragment, where characters may be written %XX.
  static std::string without_percent(std::string_view text) {
    const auto digit = [](char c) {
      if (c >= '0' && c <= '9') return c - '0';
      const char lower = static_cast<char>(c | 0x20);
      return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
    };
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0) {
        plain += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
        i += 2;
      } else {
        plain += text[i];
      }
    }
    return plain;
  }

  void collect_anchors(const json::value& value) {
    if (value.is_array()) {
      for (const json::value& each : value.get_array()) collect_anchors(each);
    } else if (value.is_object()) {
      for (const auto& member : value.get_object()) {
        if (member.key() == "$anchor" && member.value().is_string()) {
          anchors_.emplace(member.value().get_string(), &value);
        }
        collect_anchors(member.value());
      }
    }
  }

  const json::value& document_;
  rule_set set_;
  std::vector<const json::value*> sources_;  // of the rule with the same number
  std::map<const json::value*, rule_id> known_;
  std::map<std::string_view, const json::value*> anchors_;
};

}  // namespace

result<rule_set> read_rules(std::string_view text, std::string& why) {
  json::parse_options options;
  options.max_depth = deepest_value;
  boost::system::error_code fault;
  const json::value document = json::parse(text, fault, {}, options);
  if (fault) {
    why = "it cannot be read: " + fault.message();
    return errc::bad_schema;
  }
  try {
    return schema_reader(document).read();
  } catch (bad_schema& found) {
    why = std::move(found.why);
    return errc::bad_schema;
  }
}

}  // namespace switchgear::protocol
