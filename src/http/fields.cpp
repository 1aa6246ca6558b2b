#include "http/fields.hpp"

#include "http/errc.hpp"
#include "http/media_type.hpp"

#include <algorithm>

namespace switchgear::http {

result<std::string_view> single_field(std::string_view head, std::string_view name) {
  constexpr std::string_view line_end = "\r\n";
  constexpr std::string_view blanks = " \t";
  std::string_view found;
  head.remove_prefix(std::min(head.find(line_end), head.size()));
  while (head.starts_with(line_end)) {
    head.remove_prefix(line_end.size());
    const std::string_view line = head.substr(0, head.find(line_end));
    head.remove_prefix(line.size());
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !same_text(line.substr(0, colon), name)) continue;
    if (found.data() != nullptr) return errc::duplicate_field;
    std::string_view value = line.substr(colon + 1);
    value.remove_prefix(std::min(value.find_first_not_of(blanks), value.size()));
    value = value.substr(0, value.find_last_not_of(blanks) + 1);
    found = value;
  }
  return found;
}

std::optional<std::string_view> field(std::string_view head, std::string_view name) {
  const auto found = single_field(head, name);
  if (!found || found->data() == nullptr) return std::nullopt;
  return *found;
}

}  // namespace switchgear::http
