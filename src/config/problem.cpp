#include "config/problem.hpp"

namespace switchgear::config {

std::string to_string(const problem& found, std::string_view file) {
  std::string line(file);
  if (found.line > 0) {
    line += ':' + std::to_string(found.line);
    if (found.column > 0) line += ':' + std::to_string(found.column);
  }
  line += ": ";
  if (!found.key.empty()) line += found.key + ": ";
  line += found.what;
  // A key or a value may hold line ends; a message is one line whatever it quotes.
  for (char& each : line) {
    if (static_cast<unsigned char>(each) < 0x20 || each == 0x7F) each = ' ';
  }
  return line;
}

}  // namespace switchgear::config
