#include "base/result.hpp"
#include "cascade/placeholder.hpp"
#include "cascade/result_template.hpp"
#include "cascade/url_template.hpp"
#include "targets.hpp"

#include <boost/json.hpp>

#include <string>

namespace switchgear::fuzz {

namespace {

bool is_target(std::string_view text) {
  return text.starts_with('/') && text.size() <= cascade::url_template::longest_target &&
         text.find_first_of(" \r\n\t") == std::string_view::npos;
}

}  // namespace

// The first line is a template, what is behind it the JSON that fills it.
void placeholders(std::string_view input) {
  const std::size_t line = input.find('\n');
  const std::string_view text = input.substr(0, line);
  error_code broken;
  const auto from = boost::json::parse(line == std::string_view::npos ? "{}" : input.substr(line + 1), broken);
  if (broken) return;

  const bool right = !cascade::check_placeholders(text);
  const auto words = cascade::text_template::compile(text);
  must(words.has_value() == right, "a text is right if its placeholders are");
  if (words) {
    const auto filled = words->fill(from);
    must(filled || text.find("{{") != std::string_view::npos, "without placeholders nothing can be missing");
    must(text.find("{{") != std::string_view::npos || *filled == text, "and the text stays what it is");
  }
  if (const auto object = cascade::json_template::compile(text)) {
    if (const auto filled = object->fill(from)) {
      error_code none;
      must(boost::json::parse(*filled, none).is_object() && !none, "an object is made of an object");
    }
    for (const std::string& path : object->paths()) must(!path.empty(), "a path says something");
  }
  const auto url = cascade::url_template::compile("http://h/x" + std::string(text));
  must(url.has_value() == right, "and so is a path with them");
  if (!url || text.find_first_of(" \r\n\t") != std::string_view::npos) return;
  const auto target = url->fill(from);
  must(!target || is_target(*target), "values cannot break out of a request line");
}

}  // namespace switchgear::fuzz
