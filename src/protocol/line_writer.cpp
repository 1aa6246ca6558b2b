#include "protocol/line_writer.hpp"

#include <string_view>
#include <utility>

namespace switchgear::protocol {

namespace {

void replace_separators(std::string& text) {
  constexpr std::string_view lead = "\xE2\x80";  // of U+2028 and U+2029
  std::size_t found = text.find(lead);
  if (found == std::string::npos) return;
  std::string out;
  std::size_t done = 0;
  for (; found != std::string::npos; found = text.find(lead, found + 1)) {
    const char last = found + 2 < text.size() ? text[found + 2] : '\0';
    if (last != '\xA8' && last != '\xA9') continue;
    out.append(text, done, found - done).append(last == '\xA8' ? "\\u2028" : "\\u2029");
    done = found + 3;
  }
  out.append(text, done);
  text = std::move(out);
}

}  // namespace

std::string write_line(const parts& message) {
  std::string line;
  line.reserve(total_size(message) + 1);
  for (std::string_view piece : message) line.append(piece);
  // Inside a string they would not be JSON, so here they stand between tokens.
  for (std::size_t at = line.find_first_of("\r\n"); at != std::string::npos; at = line.find_first_of("\r\n", at + 1)) {
    line[at] = ' ';
  }
  replace_separators(line);
  line += '\n';
  return line;
}

}  // namespace switchgear::protocol
