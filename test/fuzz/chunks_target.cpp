#include "http/chunks.hpp"
#include "targets.hpp"

#include <algorithm>
#include <string>

namespace switchgear::fuzz {

namespace {

struct decoded {
  std::string payload;
  std::size_t consumed = 0;
  bool bad = false;
  bool done = false;
};

decoded decode(std::string_view body, std::size_t size) {
  http::chunk_reader reader;
  decoded out;
  while (out.consumed < body.size() && !reader.done()) {
    std::string piece(body.substr(out.consumed, size));
    const auto step = reader.decode(piece.data(), piece.size());
    if (!step) {
      out.bad = true;
      return out;
    }
    must(step->consumed <= piece.size() && step->produced <= step->consumed, "a piece is not left");
    must(step->consumed == piece.size() || reader.done(), "all of a piece is used");
    out.payload.append(piece, 0, step->produced);
    out.consumed += step->consumed;
  }
  out.done = reader.done();
  return out;
}

}  // namespace

void chunks(std::string_view input) {
  const std::size_t size = piece_size(input);
  const decoded whole = decode(input, std::max<std::size_t>(input.size(), 1)), cut = decode(input, size);
  must(whole.bad == cut.bad, "whether a body is good does not depend on the cut");
  if (whole.bad) return;
  must(whole.payload == cut.payload && whole.consumed == cut.consumed && whole.done == cut.done,
       "nor does what is in it");
}

}  // namespace switchgear::fuzz
