// Arguments for another tool, made from the caller's: {"q": "{{query}}", "limit": 5}.
#pragma once

#include "base/result.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace switchgear::cascade {

/// An arguments template that was read once and is filled for every call. Immutable; copies share it; thread-safe.
///
/// A string that is exactly one placeholder becomes the argument itself, whatever its JSON type. A placeholder within
/// a longer string becomes text: a string argument as it is, any other value as its JSON. Member names are literal.
class argument_template {
 public:
  static constexpr int max_depth = 32;

  /// `text` is a JSON object. Errors: bad_template, bad_placeholder.
  static result<argument_template> compile(std::string_view text);

  /// `arguments` is the caller's JSON object; empty means that there are none. Errors: bad_arguments,
  /// unknown_argument; then *missing, if given, is the name.
  result<std::string> fill(std::string_view arguments, std::string* missing = nullptr) const;

 private:
  struct tree;
  explicit argument_template(std::shared_ptr<const tree> root) : root_(std::move(root)) {}

  std::shared_ptr<const tree> root_;
};

}  // namespace switchgear::cascade
