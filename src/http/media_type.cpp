#include "http/media_type.hpp"

#include <algorithm>

namespace switchgear::http {

namespace {

char lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

// Cuts the part before `separator` off the front of `rest`; quoted strings are not cut through.
std::string_view next_part(std::string_view& rest, char separator) {
  bool quoted = false;
  std::size_t at = 0;
  for (; at < rest.size(); ++at) {
    if (quoted && rest[at] == '\\') {
      ++at;
    } else if (rest[at] == '"') {
      quoted = !quoted;
    } else if (!quoted && rest[at] == separator) {
      break;
    }
  }
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return trimmed(part);
}

bool weight_is_zero(std::string_view parameters) {
  while (!parameters.empty()) {
    std::string_view parameter = next_part(parameters, ';');
    if (parameter.size() < 3 || lower(parameter[0]) != 'q') continue;
    parameter = trimmed(parameter.substr(1));
    if (parameter.empty() || parameter[0] != '=') continue;
    const std::string_view weight = trimmed(parameter.substr(1));
    return !weight.empty() && weight.find_first_not_of("0.") == std::string_view::npos;
  }
  return false;
}

}  // namespace

bool same_text(std::string_view left, std::string_view right) {
  return left.size() == right.size() &&
         std::equal(left.begin(), left.end(), right.begin(), [](char a, char b) { return lower(a) == lower(b); });
}

bool has_token(std::string_view list, std::string_view token) {
  while (!list.empty()) {
    if (same_text(next_part(list, ','), token)) return true;
  }
  return false;
}

bool is_media_type(std::string_view content_type, std::string_view essence) {
  if (content_type == essence) return true;
  return same_text(next_part(content_type, ';'), essence);
}

bool accept_covers(std::string_view accept, std::string_view essence) {
  while (!accept.empty()) {
    std::string_view range = next_part(accept, ',');
    const std::string_view name = next_part(range, ';');
    const bool covers = same_text(name, essence) || name == "*/*" ||
                        (name.size() > 2 && name.ends_with("/*") &&
                         same_text(name.substr(0, name.size() - 1), essence.substr(0, essence.find('/') + 1)));
    if (covers && !weight_is_zero(range)) return true;
  }
  return false;
}

}  // namespace switchgear::http
