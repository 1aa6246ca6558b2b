#include "cascade/placeholder.hpp"

#include "cascade/errc.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace switchgear::cascade {
namespace {

constexpr std::string_view opening = "{{";
constexpr std::string_view closing = "}}";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// `~` begins one of two escapes, and nothing else is special.
bool is_pointer(std::string_view path) {
  for (std::size_t at = path.find('~'); at != std::string_view::npos; at = path.find('~', at + 1)) {
    if (at + 1 == path.size() || (path[at + 1] != '0' && path[at + 1] != '1')) return false;
  }
  return true;
}

}  // namespace

result<std::optional<placeholder>> next_placeholder(std::string_view text, std::size_t from) {
  const auto begin = text.find(opening, from);
  if (begin == std::string_view::npos) return std::optional<placeholder>();
  const auto end = text.find(closing, begin + opening.size());
  if (end == std::string_view::npos) return errc::bad_placeholder;
  const auto path = trimmed(text.substr(begin + opening.size(), end - begin - opening.size()));
  if (path.empty()) return errc::bad_placeholder;
  if (path.front() == '/' && !is_pointer(path)) return errc::bad_pointer;
  return std::optional(placeholder{begin, end + closing.size(), path});
}

error_code check_placeholders(std::string_view text) {
  for (std::size_t from = 0;;) {
    const auto found = next_placeholder(text, from);
    if (!found) return found.error();
    if (!*found) return {};
    from = (*found)->end;
  }
}

const boost::json::value* find_value(const boost::json::value& from, std::string_view path) {
  if (path.starts_with('/')) {
    error_code nowhere;
    return from.find_pointer(path, nowhere);
  }
  const auto* members = from.if_object();
  return members != nullptr ? members->if_contains(path) : nullptr;
}

std::string as_text(const boost::json::value& value) {
  if (const auto* text = value.if_string()) return std::string(*text);
  return boost::json::serialize(value);
}

std::string first_member(std::string_view path) {
  if (!path.starts_with('/')) return std::string(path);
  const std::string_view token = path.substr(1, path.find('/', 1) - 1);
  std::string name;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '~' && i + 1 < token.size()) {
      name += token[++i] == '0' ? '~' : '/';
    } else {
      name += token[i];
    }
  }
  return name;
}

}  // namespace switchgear::cascade
