// A JSON Schema taken apart once, so that checking a value only follows indices. Private to this folder.
// Source: JSON Schema 2020-12 core and validation; the older spellings of draft 7 and 2019-09.
#pragma once

#include "base/result.hpp"
#include "protocol/pattern.hpp"

#include <boost/json/value.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace switchgear::protocol {

using rule_id = std::uint32_t;
inline constexpr rule_id no_rule = std::numeric_limits<rule_id>::max();
inline constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

enum type_bit : unsigned {
  type_null = 1,
  type_boolean = 2,
  type_integer = 4,
  type_number = 8,
  type_string = 16,
  type_array = 32,
  type_object = 64,
  type_any = 127,
};

struct size_range {
  std::size_t least = 0;
  std::size_t most = unlimited;
};

/// One schema object. What is absent lets everything pass.
struct rule {
  bool never = false;  ///< the schema `false`

  unsigned types = type_any;
  std::optional<boost::json::value> constant;
  std::optional<boost::json::array> choices;  ///< enum

  std::optional<double> minimum, maximum, above, below, multiple_of;
  size_range length;  ///< of a string, in code points
  std::optional<protocol::pattern> pattern;

  std::vector<rule_id> prefix;  ///< one for each of the first elements
  rule_id items = no_rule;      ///< for the elements behind them
  rule_id contains = no_rule;
  size_range contained{1, unlimited};
  size_range elements;
  bool unique = false;

  std::vector<std::pair<std::string, rule_id>> properties;  ///< sorted by name
  std::vector<std::pair<protocol::pattern, rule_id>> pattern_properties;
  rule_id other_properties = no_rule;
  bool lax_members = false;  ///< a pattern property cannot be read: other_properties refuses nothing
  rule_id names = no_rule;
  std::vector<std::string> required;
  size_range members;
  std::vector<std::pair<std::string, std::vector<std::string>>> dependent_required;
  std::vector<std::pair<std::string, rule_id>> dependent_schemas;

  rule_id reference = no_rule;
  std::vector<rule_id> all_of, any_of, one_of;
  rule_id not_this = no_rule;
  rule_id condition = no_rule, then = no_rule, otherwise = no_rule;
};

struct rule_set {
  std::vector<rule> rules;
  rule_id root = 0;
};

/// How deep a schema or a value may nest to be looked at here.
inline constexpr std::size_t deepest_value = 64;

/// Errors: errc::bad_schema, with the reason in `why`.
result<rule_set> read_rules(std::string_view text, std::string& why);

/// Whether `value` fits; if not, `why` says where and what.
bool fits(const rule_set& rules, const boost::json::value& value, std::string& why);

}  // namespace switchgear::protocol
