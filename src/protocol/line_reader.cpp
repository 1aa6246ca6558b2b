#include "protocol/line_reader.hpp"

namespace switchgear::protocol {

void line_reader::forget() {
  // The memory is used again, unless it was a large line's.
  constexpr std::size_t kept = std::size_t{64} * 1024;
  given_ = false;
  if (held_.capacity() > kept) {
    held_ = {};
  } else {
    held_.clear();
  }
}

line_reader::step line_reader::next(std::string_view& out) {
  if (given_) forget();
  while (!piece_.empty()) {
    const std::size_t end = piece_.find('\n');
    if (skipping_) {
      if (end == std::string_view::npos) {
        piece_ = {};
        break;
      }
      piece_.remove_prefix(end + 1);
      skipping_ = false;
      continue;
    }

    const std::string_view part = piece_.substr(0, end);
    // A CR may still turn out to belong to the line end, hence the one byte.
    if (held_.size() + part.size() > limit_ + 1) {
      forget();
      skipping_ = true;
      return step::too_large;
    }
    if (end == std::string_view::npos) {
      held_.append(part);
      piece_ = {};
      break;
    }
    piece_.remove_prefix(end + 1);
    std::string_view line = part;
    if (!held_.empty()) {
      held_.append(part);
      given_ = true;
      line = held_.view();
    }
    if (const step found = give(line, out); found != step::more) return found;
    if (given_) forget();
  }
  return step::more;
}

line_reader::step line_reader::finish(std::string_view& out) {
  if (skipping_ || given_ || held_.empty()) return step::more;
  given_ = true;
  return give(held_.view(), out);
}

line_reader::step line_reader::give(std::string_view line, std::string_view& out) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.empty()) return step::more;
  if (line.size() > limit_) return step::too_large;
  out = line;
  return step::line;
}

}  // namespace switchgear::protocol
