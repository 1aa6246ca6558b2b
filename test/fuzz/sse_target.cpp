#include "protocol/sse.hpp"
#include "targets.hpp"

#include <string>
#include <utility>
#include <vector>

namespace switchgear::fuzz {

namespace {

constexpr std::size_t limit = 200;

struct story {
  std::vector<std::pair<std::string, std::string>> events;
  bool too_large = false;
  std::string last_id;
};

story read(std::string_view stream, std::size_t size) {
  protocol::sse_reader reader(limit);
  story told;
  for (std::size_t at = 0; at < stream.size() && !told.too_large; at += size) {
    const std::string_view part = stream.substr(at, size);
    const std::vector<char> piece(part.begin(), part.end());
    reader.feed({piece.data(), piece.size()});
    for (;;) {
      protocol::sse_event event;
      const protocol::sse_reader::step step = reader.next(event);
      told.too_large = step == protocol::sse_reader::step::too_large;
      if (step != protocol::sse_reader::step::event) break;
      must(!event.data.empty() && event.data.size() <= limit, "an event has data, within the limit");
      told.events.emplace_back(event.name, event.data);
    }
  }
  told.last_id = reader.last_id();
  return told;
}

}  // namespace

void sse(std::string_view input) {
  const std::size_t size = piece_size(input);
  const story whole = read(input, input.size() + 1), cut = read(input, size);
  // A comment that is too long is seen only if it has to be kept, so how the stream is cut matters for that alone.
  if (!whole.too_large && !cut.too_large) {
    must(whole.events == cut.events, "events do not depend on the cut");
    must(whole.last_id == cut.last_id, "nor does the last id");
  }

  std::string space;
  parts written;
  protocol::write_event(input, space, written);
  const std::string text = joined(written);
  must(text.find('\n') == text.size() - 2 && text.find('\r') == std::string::npos, "one data line is written");
}

}  // namespace switchgear::fuzz
