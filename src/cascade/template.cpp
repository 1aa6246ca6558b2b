#include "cascade/template.hpp"

#include "cascade/errc.hpp"
#include "cascade/placeholder.hpp"

#include <boost/json.hpp>

#include <utility>

namespace switchgear::cascade {
namespace {

namespace json = boost::json;

error_code check(const json::value& node) {
  if (const auto* text = node.if_string()) return check_placeholders(*text);
  if (const auto* array = node.if_array()) {
    for (const json::value& element : *array) {
      if (const error_code wrong = check(element)) return wrong;
    }
  } else if (const auto* object = node.if_object()) {
    for (const auto& member : *object) {
      if (const error_code wrong = check(member.value())) return wrong;
    }
  }
  return {};
}

void collect_paths(const json::value& node, std::vector<std::string>& into) {
  if (const auto* text = node.if_string()) {
    for (auto found = next_placeholder(*text, 0); found && *found; found = next_placeholder(*text, (*found)->end)) {
      into.emplace_back((*found)->path);
    }
  } else if (const auto* array = node.if_array()) {
    for (const json::value& element : *array) collect_paths(element, into);
  } else if (const auto* object = node.if_object()) {
    for (const auto& member : *object) collect_paths(member.value(), into);
  }
}

class filling {
 public:
  filling(const json::value& from, std::string* missing) : from_(from), missing_(missing) {}

  result<json::value> node(const json::value& pattern) {
    if (const auto* text = pattern.if_string()) return string(*text);
    if (const auto* array = pattern.if_array()) {
      json::array filled;
      filled.reserve(array->size());
      for (const json::value& element : *array) {
        auto value = node(element);
        if (!value) return value.error();
        filled.push_back(std::move(*value));
      }
      return json::value(std::move(filled));
    }
    if (const auto* object = pattern.if_object()) {
      json::object filled;
      for (const auto& member : *object) {
        auto value = node(member.value());
        if (!value) return value.error();
        filled.emplace(member.key(), std::move(*value));
      }
      return json::value(std::move(filled));
    }
    return pattern;
  }

  result<std::string> text(std::string_view pattern) {
    std::string filled;
    std::size_t done = 0;
    for (;;) {
      const auto found = next_placeholder(pattern, done);
      if (!found) return found.error();
      if (!*found) break;
      const json::value* value = find((*found)->path);
      if (value == nullptr) return errc::unknown_argument;
      filled.append(pattern.substr(done, (*found)->begin - done)).append(as_text(*value));
      done = (*found)->end;
    }
    return filled.append(pattern.substr(done));
  }

 private:
  result<json::value> string(std::string_view pattern) {
    const auto found = next_placeholder(pattern, 0);
    if (found && *found && (*found)->begin == 0 && (*found)->end == pattern.size()) {
      const json::value* value = find((*found)->path);
      if (value == nullptr) return errc::unknown_argument;
      return *value;
    }
    auto filled = text(pattern);
    if (!filled) return filled.error();
    return json::value(*filled);
  }

  const json::value* find(std::string_view path) {
    const json::value* value = find_value(from_, path);
    if (value == nullptr && missing_ != nullptr) *missing_ = path;
    return value;
  }

  const json::value& from_;
  std::string* missing_;
};

}  // namespace

struct json_template::tree {
  json::value pattern;
};

result<json_template> json_template::compile(std::string_view text) {
  json::parse_options options;
  options.max_depth = max_depth;
  error_code error;
  json::value pattern = json::parse(text, error, {}, options);
  if (error || !pattern.is_object()) return errc::bad_template;
  if (const error_code wrong = check(pattern)) return wrong;
  return json_template(std::make_shared<const tree>(tree{std::move(pattern)}));
}

result<std::string> json_template::fill(const json::value& from, std::string* missing) const {
  const auto filled = filling(from, missing).node(root_->pattern);
  if (!filled) return filled.error();
  return json::serialize(*filled);
}

std::vector<std::string> json_template::paths() const {
  std::vector<std::string> all;
  collect_paths(root_->pattern, all);
  return all;
}

result<text_template> text_template::compile(std::string_view text) {
  if (const error_code wrong = check_placeholders(text)) return wrong;
  return text_template(std::string(text));
}

result<std::string> text_template::fill(const json::value& from, std::string* missing) const {
  return filling(from, missing).text(text_);
}

result<json::value> read_arguments(std::string_view arguments) {
  if (arguments.empty()) return json::value(json::object());
  error_code error;
  json::value parsed = json::parse(arguments, error);
  if (error || !parsed.is_object()) return errc::bad_arguments;
  return parsed;
}

}  // namespace switchgear::cascade
