#include "listen/letters.hpp"

namespace switchgear::listen {

namespace {

// Format, kind, size of the session's id; then the id, then the body up to the end.
constexpr char format = 1;
constexpr std::size_t head_size = 3;
constexpr auto last = letter_kind::level;

}  // namespace

std::string write_letter(const letter& one) {
  std::string text;
  text.reserve(head_size + one.session.size() + one.body.size());
  text += format;
  text += static_cast<char>(one.kind);
  text += static_cast<char>(one.session.size());
  return text.append(one.session).append(one.body);
}

std::optional<letter> read_letter(std::string_view text) {
  if (text.size() < head_size || text[0] != format) return std::nullopt;
  const auto kind = static_cast<unsigned char>(text[1]);
  const std::size_t size = static_cast<unsigned char>(text[2]);
  if (kind > static_cast<unsigned char>(last) || text.size() - head_size < size) return std::nullopt;
  return letter{static_cast<letter_kind>(kind), text.substr(head_size, size), text.substr(head_size + size)};
}

}  // namespace switchgear::listen
