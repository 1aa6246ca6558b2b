#include "protocol/line_reader.hpp"
#include "targets.hpp"

#include <string>
#include <vector>

namespace switchgear::fuzz {

namespace {

constexpr std::size_t limit = 50;

// What is read, a line that is too large as "\n".
std::vector<std::string> read(std::string_view stream, std::size_t size) {
  protocol::line_reader reader(limit);
  std::vector<std::string> told;
  std::string_view line;
  const auto note = [&](protocol::line_reader::step step) {
    if (step == protocol::line_reader::step::too_large) told.emplace_back("\n");
    if (step != protocol::line_reader::step::line) return;
    must(!line.empty() && line.size() <= limit, "a line has content, within the limit");
    told.emplace_back(line);
  };
  for (std::size_t at = 0; at < stream.size(); at += size) {
    const std::string_view part = stream.substr(at, size);
    const std::vector<char> piece(part.begin(), part.end());
    reader.feed({piece.data(), piece.size()});
    for (;;) {
      const protocol::line_reader::step step = reader.next(line);
      if (step == protocol::line_reader::step::more) break;
      note(step);
    }
  }
  note(reader.finish(line));
  return told;
}

}  // namespace

void line_reader(std::string_view input) {
  const std::size_t size = piece_size(input);
  must(read(input, input.size() + 1) == read(input, size), "lines do not depend on the cut");
}

}  // namespace switchgear::fuzz
