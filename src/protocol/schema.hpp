// A compiled JSON Schema, to find out whether a stand-in answer fits the tool's outputSchema.
#pragma once

#include "base/result.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace switchgear::protocol {

struct rule_set;  // schema_rules.hpp, private to this folder

/// Immutable, and safe to use from several threads at once. Reads drafts 7 to 2020-12. Nothing is ever fetched: a
/// `$ref` outside the text is an error. Not enforced: `format` (an annotation since 2019-09), `content*`,
/// `unevaluated*`, `$dynamicRef`, and a pattern that the regex engine cannot read.
///
/// The work of one check is bounded, whatever schema and value: what takes more than about ten milliseconds does not
/// fit, and `why` says so. Neither recursion nor a regex can exhaust the stack.
class schema {
 public:
  /// Errors: errc::bad_schema; then `why`, if not null, says what is wrong in one line.
  static result<std::shared_ptr<const schema>> compile(std::string_view text, std::string* why = nullptr);

  ~schema();
  schema(const schema&) = delete;
  schema& operator=(const schema&) = delete;

  /// Whether `json` is valid JSON that fits. If not, `why` (may be null) says where and what, in one line. Takes
  /// microseconds to milliseconds: for stand-ins, not for every call.
  bool accepts(std::string_view json, std::string* why = nullptr) const;

 private:
  explicit schema(std::unique_ptr<const rule_set> rules);

  std::unique_ptr<const rule_set> rules_;
};

}  // namespace switchgear::protocol
