#include "listen/letters.hpp"
#include "targets.hpp"

#include <string>

namespace switchgear::fuzz {

void letters(std::string_view input) {
  const auto read = listen::read_letter(input);
  if (!read) return;
  must(listen::write_letter(*read) == input, "a letter that was read is written as it came");
  must(read->session.size() + read->body.size() < input.size(), "its parts lie inside of it");
}

}  // namespace switchgear::fuzz
