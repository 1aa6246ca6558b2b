// A value of the document on its way into the configuration: it knows its key, and reports what is wrong with it.
#pragma once

#include "config/document.hpp"
#include "config/problem.hpp"
#include "config/read.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchgear::config {

/// Collects what the readers find. Lives as long as the fields that report to it.
struct findings {
  static constexpr std::size_t most = 100;  ///< of errors and of warnings; a file of garbage is not worth more

  const environment& variables;
  std::vector<problem> errors;
  std::vector<problem> warnings;
  std::vector<std::pair<std::string, std::string>> substituted;

  bool full() const { return errors.size() >= most; }
  void error(problem found);
  void warning(problem found);
};

/// Cheap to copy; refers to the document and to the findings.
class field {
 public:
  field(const node& at, std::string key, findings& into) : at_(&at), key_(std::move(key)), into_(&into) {}

  const node& at() const { return *at_; }
  const std::string& key() const { return key_; }  ///< path from the root, as in "breaker.window"
  findings& into() const { return *into_; }

  void fail(std::string what) const;
  void warn(std::string what) const;

  /// The scalar's text with `${...}` replaced. An error, and nothing, for other kinds and for unknown variables.
  std::optional<std::string> text() const;

  /// The items of a list. An error, and nothing, for other kinds.
  std::optional<std::vector<field>> items() const;

  /// The members of a mapping without those that stand a second time, which are errors; an absent value is an empty
  /// mapping. An error, and nothing, for other kinds.
  struct member;
  std::optional<std::vector<member>> members() const;

  /// The field of a member that exists, else this one: the place for what is wrong with a value that may be a default.
  field nearest(std::string_view name) const;

 private:
  const node* at_;
  std::string key_;
  findings* into_;
};

struct field::member {
  std::string name;
  field value;
  int line = 0;  ///< of the name
  int column = 0;

  void fail(std::string what) const;
  void warn(std::string what) const;
};

/// Replaces `${NAME}` and `${NAME:-otherwise}` in a text; `$${` stands for `${`. Gives nothing and says why in `wrong`
/// when a variable is not set or the form is wrong.
std::optional<std::string> substitute(std::string_view text, findings& into, std::string& wrong);

}  // namespace switchgear::config
