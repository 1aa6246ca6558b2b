#include "cascade/result_template.hpp"

#include "cascade/errc.hpp"

#include <boost/json/value.hpp>

namespace switchgear::cascade {

result<result_template> result_template::compile(const result_mapping& how) {
  std::optional<text_template> text;
  std::optional<json_template> structured;
  if (!how.text.empty()) {
    auto made = text_template::compile(how.text);
    if (!made) return made.error();
    text = std::move(*made);
  }
  if (!how.structured.empty()) {
    auto made = json_template::compile(how.structured);
    if (!made) return made.error();
    structured = std::move(*made);
  }
  return result_template(std::move(text), std::move(structured));
}

result<plain_answer> result_template::fill(const boost::json::value& answer, std::string* missing) const {
  plain_answer made;
  if (text_) {
    auto text = text_->fill(answer, missing);
    if (!text) return errc::unmapped;
    made.text = std::move(*text);
  }
  if (structured_) {
    auto structured = structured_->fill(answer, missing);
    if (!structured) return errc::unmapped;
    made.structured = std::move(*structured);
  }
  return made;
}

}  // namespace switchgear::cascade
