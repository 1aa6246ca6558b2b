// JSON and text made from other JSON: {"q": "{{query}}", "first": "{{/filter/0/name}}", "limit": 5}.
#pragma once

#include "base/result.hpp"

#include <boost/json/fwd.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::cascade {

/// A JSON object with placeholders (cascade/placeholder.hpp) that was read once and is filled for every call.
/// Immutable; copies share it; thread-safe.
///
/// A string that is exactly one placeholder becomes the value itself, whatever its JSON type. A placeholder within a
/// longer string becomes text: a string as it is, any other value as its JSON. Member names are literal.
class json_template {
 public:
  static constexpr int max_depth = 32;

  /// `text` is a JSON object. Errors: bad_template, bad_placeholder, bad_pointer.
  static result<json_template> compile(std::string_view text);

  /// `from` is the caller's arguments (read_arguments), or an answer. Errors: unknown_argument; then *missing, if
  /// given, is the path that led nowhere.
  result<std::string> fill(const boost::json::value& from, std::string* missing = nullptr) const;

  /// The paths of all its placeholders, in no order, some perhaps twice.
  std::vector<std::string> paths() const;

 private:
  struct tree;
  explicit json_template(std::shared_ptr<const tree> root) : root_(std::move(root)) {}

  std::shared_ptr<const tree> root_;
};

/// The same for a text: every value becomes text.
class text_template {
 public:
  /// Errors: bad_placeholder, bad_pointer.
  static result<text_template> compile(std::string_view text);

  /// Errors: unknown_argument, with *missing as above.
  result<std::string> fill(const boost::json::value& from, std::string* missing = nullptr) const;

 private:
  explicit text_template(std::string text) : text_(std::move(text)) {}

  std::string text_;
};

/// Reads a caller's arguments, a JSON object; empty means that there are none. Errors: bad_arguments.
result<boost::json::value> read_arguments(std::string_view arguments);

}  // namespace switchgear::cascade
