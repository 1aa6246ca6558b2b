// A compiled JSON Schema, to find out whether a stand-in answer fits the tool's outputSchema.
#pragma once

#include "base/result.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace switchgear::protocol {

/// Immutable, and safe to use from several threads at once. Reads drafts 7 to 2020-12. Nothing is ever fetched: a
/// `$ref` outside the text is an error. What the validator does not know (unevaluatedProperties, $dynamicRef, format)
/// it does not enforce.
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
  struct compiled;
  explicit schema(std::unique_ptr<const compiled> rules);

  std::unique_ptr<const compiled> rules_;
};

}  // namespace switchgear::protocol
