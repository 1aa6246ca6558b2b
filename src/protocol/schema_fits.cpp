#include "protocol/schema_rules.hpp"
#include "protocol/text.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace switchgear::protocol {

namespace {

namespace json = boost::json;

// Rules applied and values compared in one check. Schemas that multiply work at each level reach it, honest ones do
// not.
constexpr unsigned most_steps = 500'000;
// Rules within rules. A reference that leads back to itself reaches it.
constexpr unsigned deepest_rule = 512;

unsigned type_of(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return type_null;
    case json::kind::bool_:
      return type_boolean;
    case json::kind::int64:
    case json::kind::uint64:
      return type_integer;
    case json::kind::double_:
      return std::floor(value.get_double()) == value.get_double() ? type_integer : type_number;
    case json::kind::string:
      return type_string;
    case json::kind::array:
      return type_array;
    case json::kind::object:
      return type_object;
  }
  return 0;
}

std::string names_of(unsigned types) {
  static constexpr std::pair<unsigned, std::string_view> all[] = {
      {type_null, "null"},     {type_boolean, "boolean"}, {type_number, "number"}, {type_integer, "integer"},
      {type_string, "string"}, {type_array, "array"},     {type_object, "object"}};
  std::string line;
  for (const auto& [bit, name] : all) {
    if ((types & bit) == 0 || (bit == type_integer && (types & type_number) != 0)) continue;
    if (!line.empty()) line += " or ";
    line += name;
  }
  return line;
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool is_multiple(double value, double of) {
  const double times = value / of;
  // 0.3 is a multiple of 0.1 to anybody but a binary float.
  return std::isfinite(times) && std::abs(times - std::round(times)) <= 1e-9 * std::max(1.0, std::abs(times));
}

class check {
 public:
  explicit check(const rule_set& rules) : rules_(rules) {}

  bool run(const json::value& value) { return fits(rules_.root, value); }
  std::string why() && { return gave_up_ ? "checking it takes too much work" : std::move(why_); }

 private:
  bool fits(rule_id id, const json::value& value) {
    if (id == no_rule) return true;
    if (!spend() || depth_ == deepest_rule) return give_up();
    ++depth_;
    const bool good = fits(rules_.rules[id], value);
    --depth_;
    return good;
  }

  bool fits(const rule& is, const json::value& value) {
    if (is.never) return refuse("nothing may stand here");
    if ((is.types & type_of(value)) == 0) return refuse("must be ", names_of(is.types));
    if (is.constant && !equal(*is.constant, value)) return refuse("must be a certain value");
    if (is.choices && !any_equal(*is.choices, value)) return refuse("must be one of certain values");
    bool good = true;
    if (value.is_number()) {
      good = number_fits(is, value.to_number<double>());
    } else if (value.is_string()) {
      good = string_fits(is, value.get_string());
    } else if (value.is_array()) {
      good = array_fits(is, value.get_array());
    } else if (value.is_object()) {
      good = object_fits(is, value.get_object(), value);
    }
    return good && fits(is.reference, value) && combined_fits(is, value);
  }

  bool number_fits(const rule& is, double value) {
    if (is.minimum && value < *is.minimum) return refuse("is too small");
    if (is.maximum && value > *is.maximum) return refuse("is too large");
    if (is.above && value <= *is.above) return refuse("is too small");
    if (is.below && value >= *is.below) return refuse("is too large");
    if (is.multiple_of && !is_multiple(value, *is.multiple_of)) return refuse("is not a multiple");
    return true;
  }

  bool string_fits(const rule& is, std::string_view value) {
    if (is.length.least != 0 || is.length.most != unlimited) {
      const std::size_t length = code_points(value);
      if (length < is.length.least) return refuse("is too short");
      if (length > is.length.most) return refuse("is too long");
    }
    return !is.pattern || found(*is.pattern, value) || refuse("does not match the pattern");
  }

  bool array_fits(const rule& is, const json::array& value) {
    if (value.size() < is.elements.least) return refuse("has too few elements");
    if (value.size() > is.elements.most) return refuse("has too many elements");
    if (is.unique && !all_differ(value)) return refuse("has an element twice");
    std::size_t contained = 0;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const rule_id each = i < is.prefix.size() ? is.prefix[i] : is.items;
      if (!fits(each, value[i])) return at(std::to_string(i));
      if (is.contains != no_rule && tried(is.contains, value[i])) ++contained;
      if (gave_up_) return false;
    }
    if (is.contains == no_rule) return true;
    if (contained < is.contained.least) return refuse("lacks an element that it must contain");
    return contained <= is.contained.most || refuse("has too many elements of a kind");
  }

  bool object_fits(const rule& is, const json::object& members, const json::value& whole) {
    if (members.size() < is.members.least) return refuse("has too few members");
    if (members.size() > is.members.most) return refuse("has too many members");
    for (const std::string& name : is.required) {
      if (!members.contains(name)) return refuse("lacks the member ", name);
    }
    for (const auto& [name, needed] : is.dependent_required) {
      if (!members.contains(name)) continue;
      for (const std::string& other : needed) {
        if (!members.contains(other)) return refuse("lacks the member ", other);
      }
    }
    for (const auto& [name, id] : is.dependent_schemas) {
      if (members.contains(name) && !fits(id, whole)) return false;
    }
    for (const auto& member : members) {
      if (!member_fits(is, member.key(), member.value())) return at(member.key());
    }
    return true;
  }

  bool member_fits(const rule& is, std::string_view name, const json::value& value) {
    if (is.names != no_rule && !fits(is.names, json::value(name))) return false;
    bool known = false;
    const auto named = std::lower_bound(is.properties.begin(), is.properties.end(), name,
                                        [](const auto& each, std::string_view wanted) { return each.first < wanted; });
    if (named != is.properties.end() && named->first == name) {
      known = true;
      if (!fits(named->second, value)) return false;
    }
    for (const auto& [expression, id] : is.pattern_properties) {
      if (!found(expression, name)) continue;
      known = true;
      if (!fits(id, value)) return false;
    }
    if (gave_up_) return false;
    return known || is.lax_members || fits(is.other_properties, value);
  }

  bool combined_fits(const rule& is, const json::value& value) {
    for (rule_id each : is.all_of) {
      if (!fits(each, value)) return false;
    }
    if (!is.any_of.empty() && count_fitting(is.any_of, value, 1) == 0) return refuse("fits none of anyOf");
    if (!is.one_of.empty() && count_fitting(is.one_of, value, 2) != 1)
      return refuse("does not fit exactly one of oneOf");
    if (is.not_this != no_rule && tried(is.not_this, value)) return refuse("fits what it must not");
    if (is.condition != no_rule) {
      const bool holds = tried(is.condition, value);
      if (!fits(holds ? is.then : is.otherwise, value)) return false;
    }
    return !gave_up_;
  }

  std::size_t count_fitting(const std::vector<rule_id>& rules, const json::value& value, std::size_t enough) {
    std::size_t fitting = 0;
    for (rule_id each : rules) {
      if (tried(each, value)) ++fitting;
      if (fitting == enough || gave_up_) break;
    }
    return fitting;
  }

  // Whether it fits, where a no is no reason yet.
  bool tried(rule_id id, const json::value& value) {
    const bool good = fits(id, value);
    if (!good) why_.clear();
    return good;
  }

  bool found(const pattern& expression, std::string_view text) {
    spend(1 + static_cast<unsigned>(std::min<std::size_t>(text.size() / 16, most_steps)));
    if (gave_up_) return false;
    const pattern::outcome outcome = expression.search(text);
    if (outcome == pattern::outcome::too_hard) return give_up();
    return outcome == pattern::outcome::found;
  }

  bool all_differ(const json::array& values) {
    for (std::size_t i = 1; i < values.size() && !gave_up_; ++i) {
      for (std::size_t j = 0; j < i && !gave_up_; ++j) {
        if (equal(values[i], values[j])) return false;
      }
    }
    return !gave_up_;
  }

  bool any_equal(const json::array& values, const json::value& wanted) {
    return std::any_of(values.begin(), values.end(), [&](const json::value& each) { return equal(each, wanted); });
  }

  // 1 and 1.0 are equal, whatever the parser made of them.
  bool equal(const json::value& a, const json::value& b) {
    if (!spend()) return give_up();
    if (a.is_number() && b.is_number()) return a == b || a.to_number<double>() == b.to_number<double>();
    if (a.is_array() && b.is_array()) {
      const json::array &left = a.get_array(), &right = b.get_array();
      return left.size() == right.size() &&
             std::equal(left.begin(), left.end(), right.begin(),
                        [this](const json::value& x, const json::value& y) { return equal(x, y); });
    }
    if (a.is_object() && b.is_object()) {
      const json::object &left = a.get_object(), &right = b.get_object();
      return left.size() == right.size() && std::all_of(left.begin(), left.end(), [&](const auto& member) {
               const json::value* other = right.if_contains(member.key());
               return other != nullptr && equal(member.value(), *other);
             });
    }
    return a == b;
  }

  bool spend(unsigned steps = 1) {
    if (steps_ < steps) {
      gave_up_ = true;
      return false;
    }
    steps_ -= steps;
    return true;
  }
  bool give_up() {
    gave_up_ = true;
    return false;
  }

  bool refuse(std::string_view what, std::string_view more = {}) {
    if (why_.empty()) why_.append(": ").append(what).append(head(more, 128));
    return false;
  }
  // The place is put together on the way back, from the inside out.
  bool at(std::string_view step) {
    why_.insert(0, std::string("/").append(head(step, 128)));
    return false;
  }

  const rule_set& rules_;
  unsigned steps_ = most_steps;
  unsigned depth_ = 0;
  bool gave_up_ = false;
  std::string why_;
};

}  // namespace

bool fits(const rule_set& rules, const json::value& value, std::string& why) {
  check run(rules);
  if (run.run(value)) return true;
  why = std::move(run).why();
  if (why.starts_with(": ")) why.erase(0, 2);
  return false;
}

}  // namespace switchgear::protocol
