// A stand-in's result, made from what another tool or a REST endpoint answered.
#pragma once

#include "base/result.hpp"
#include "cascade/plan.hpp"
#include "cascade/template.hpp"

#include <boost/json/fwd.hpp>

#include <optional>
#include <string>

namespace switchgear::cascade {

/// What of an answer is taken. Immutable; copies share it; thread-safe.
class result_template {
 public:
  /// Errors: those of text_template and json_template.
  static result<result_template> compile(const result_mapping& how);

  /// `answer` is any JSON. Errors: unmapped; then *missing, if given, is the path that led nowhere.
  result<plain_answer> fill(const boost::json::value& answer, std::string* missing = nullptr) const;

 private:
  result_template(std::optional<text_template> text, std::optional<json_template> structured)
      : text_(std::move(text)), structured_(std::move(structured)) {}

  std::optional<text_template> text_;
  std::optional<json_template> structured_;
};

}  // namespace switchgear::cascade
