#include "protocol/uri_template.hpp"

#include "protocol/errc.hpp"

#include <algorithm>

namespace switchgear::protocol {

result<uri_template> uri_template::compile(std::string_view text) {
  if (text.size() > longest_uri) return errc::too_large;
  uri_template made;
  std::size_t expressions = 0;
  while (!text.empty()) {
    const std::size_t brace = std::min(text.find_first_of("{}"), text.size());
    piece next;
    if (brace != 0) {
      next.literal = text.substr(0, brace);
      made.literal_size_ += brace;
      text.remove_prefix(brace);
    } else {
      const std::size_t end = text.find('}');
      if (text.front() == '}' || end == std::string_view::npos) return errc::bad_template;
      if (!read_expression(text.substr(1, end - 1), next)) return errc::bad_template;
      if (++expressions > most_expressions) return errc::too_large;
      text.remove_prefix(end + 1);
    }
    made.pieces_.push_back(std::move(next));
  }
  return made;
}

bool uri_template::read_expression(std::string_view inside, piece& out) {
  constexpr std::string_view later_operators = "=,!@|";
  if (inside.empty() || inside.find('{') != std::string_view::npos) return false;
  if (later_operators.find(inside.front()) != std::string_view::npos) return false;
  switch (inside.front()) {
    case '+':
      out = {.within = reach::anything};
      break;
    case '#':
      out = {.lead = '#', .within = reach::anything, .optional = true};
      break;
    case '.':
    case ';':
      out = {.lead = inside.front(), .within = reach::segment, .optional = true};
      break;
    case '/':
      out = {.lead = '/', .within = reach::path, .optional = true};
      break;
    case '?':
    case '&':
      out = {.lead = inside.front(), .within = reach::query, .optional = true};
      break;
    default:
      out = {.within = reach::segment};
      return true;
  }
  return inside.size() > 1;
}

bool uri_template::is_within(char c, reach within) {
  switch (within) {
    case reach::segment:
      return c != '/' && c != '?' && c != '#';
    case reach::path:
      return c != '?' && c != '#';
    case reach::query:
      return c != '#';
    case reach::anything:
      return true;
  }
  return false;
}

// All places of the URI where the pieces so far can end, kept as a set: no piece is ever tried twice from one place, as
// backtracking would.
bool uri_template::matches(std::string_view uri) const {
  if (uri.size() > longest_uri) return false;
  std::vector<char> here(uri.size() + 1), after(uri.size() + 1);
  here[0] = 1;
  for (const piece& next : pieces_) {
    bool any = false;
    const std::string_view literal = next.literal;
    if (!literal.empty()) {
      std::ranges::fill(after, char{0});
      for (std::size_t at = 0; at + literal.size() <= uri.size(); ++at) {
        if (here[at] == 0 || uri.compare(at, literal.size(), literal) != 0) continue;
        after[at + literal.size()] = 1;
        any = true;
      }
    } else {
      bool inside = false;  // a value that has begun may go on
      after[0] = next.optional ? here[0] : char{0};
      any = after[0] != 0;
      for (std::size_t at = 0; at < uri.size(); ++at) {
        const bool may_begin =
            next.lead == '\0' ? here[at] != 0 : at != 0 && here[at - 1] != 0 && uri[at - 1] == next.lead;
        inside = (inside || may_begin) && is_within(uri[at], next.within);
        after[at + 1] = inside || (next.optional && here[at + 1] != 0) ? 1 : 0;
        any = any || after[at + 1] != 0;
      }
    }
    if (!any) return false;
    here.swap(after);
  }
  return here.back() != 0;
}

}  // namespace switchgear::protocol
