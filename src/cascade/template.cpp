#include "cascade/template.hpp"

#include "cascade/errc.hpp"

#include <boost/json.hpp>

#include <optional>

namespace switchgear::cascade {
namespace {

namespace json = boost::json;

constexpr std::string_view opening = "{{";
constexpr std::string_view closing = "}}";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// The next placeholder of `text` at or after `from`.
struct placeholder {
  std::size_t begin, end;
  std::string_view name;
};

std::optional<placeholder> find_placeholder(std::string_view text, std::size_t from) {
  const auto begin = text.find(opening, from);
  if (begin == std::string_view::npos) return std::nullopt;
  const auto end = text.find(closing, begin + opening.size());
  if (end == std::string_view::npos) return placeholder{begin, text.size(), {}};
  const auto inside = text.substr(begin + opening.size(), end - begin - opening.size());
  return placeholder{begin, end + closing.size(), trimmed(inside)};
}

bool well_formed(const json::value& node) {
  if (const auto* text = node.if_string()) {
    for (auto found = find_placeholder(*text, 0); found; found = find_placeholder(*text, found->end)) {
      if (found->name.empty()) return false;
    }
    return true;
  }
  if (const auto* array = node.if_array()) return std::ranges::all_of(*array, well_formed);
  if (const auto* object = node.if_object()) {
    return std::ranges::all_of(*object, [](const auto& member) { return well_formed(member.value()); });
  }
  return true;
}

class filling {
 public:
  filling(const json::object& arguments, std::string* missing) : arguments_(arguments), missing_(missing) {}

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

 private:
  result<json::value> string(std::string_view text) {
    auto found = find_placeholder(text, 0);
    if (!found) return json::value(text);
    if (found->begin == 0 && found->end == text.size()) {
      const json::value* value = argument(found->name);
      if (value == nullptr) return errc::unknown_argument;
      return *value;
    }
    std::string filled;
    std::size_t done = 0;
    for (; found; found = find_placeholder(text, done)) {
      const json::value* value = argument(found->name);
      if (value == nullptr) return errc::unknown_argument;
      filled += text.substr(done, found->begin - done);
      if (const auto* inner = value->if_string()) {
        filled += std::string_view(*inner);
      } else {
        filled += json::serialize(*value);
      }
      done = found->end;
    }
    filled += text.substr(done);
    return json::value(filled);
  }

  const json::value* argument(std::string_view name) {
    const json::value* value = arguments_.if_contains(name);
    if (value == nullptr && missing_ != nullptr) *missing_ = name;
    return value;
  }

  const json::object& arguments_;
  std::string* missing_;
};

}  // namespace

struct argument_template::tree {
  json::value pattern;
};

result<argument_template> argument_template::compile(std::string_view text) {
  json::parse_options options;
  options.max_depth = max_depth;
  error_code error;
  json::value pattern = json::parse(text, error, {}, options);
  if (error || !pattern.is_object()) return errc::bad_template;
  if (!well_formed(pattern)) return errc::bad_placeholder;
  return argument_template(std::make_shared<const tree>(tree{std::move(pattern)}));
}

result<std::string> argument_template::fill(std::string_view arguments, std::string* missing) const {
  json::object given;
  if (!arguments.empty()) {
    error_code error;
    json::value parsed = json::parse(arguments, error);
    if (error || !parsed.is_object()) return errc::bad_arguments;
    given = std::move(parsed.get_object());
  }
  auto filled = filling(given, missing).node(root_->pattern);
  if (!filled) return filled.error();
  return json::serialize(*filled);
}

}  // namespace switchgear::cascade
