#include "upstream/child_errors.hpp"

#include "upstream/printable.hpp"

#include <algorithm>
#include <utility>

namespace switchgear::upstream {

void child_errors::keep(std::string_view piece) {
  if (piece.size() >= tail_size) {
    tail_.assign(piece.substr(piece.size() - tail_size));
    return;
  }
  tail_.append(piece);
  if (tail_.size() > tail_size) tail_.erase(0, tail_.size() - tail_size);
}

const std::string* child_errors::next_line(std::string_view& piece, time_point now) {
  const std::size_t end = piece.find('\n');
  const std::string_view part = piece.substr(0, end);
  const std::size_t room = longest_line - std::min(line_.size(), longest_line);
  line_.append(part.substr(0, room));
  if (part.size() > room) cut_ = true;
  if (end == std::string_view::npos) {
    piece = {};
    return nullptr;
  }
  piece.remove_prefix(end + 1);

  if (!line_.empty() && line_.back() == '\r') line_.pop_back();
  const bool blank = line_.find_first_not_of(" \t") == std::string::npos;
  if (!blank) {
    const double earned = std::chrono::duration<double>(now - last_).count() * per_second;
    allowance_ = std::min<double>(burst, allowance_ + std::max(earned, 0.0));
    last_ = now;
  }
  const std::string* out = nullptr;
  if (!blank && allowance_ >= 1) {
    allowance_ -= 1;
    shown_ = printable(line_, longest_line);
    if (cut_) shown_ += "...";
    if (hidden_ != 0) shown_ += " (" + std::to_string(std::exchange(hidden_, 0)) + " lines before it not shown)";
    out = &shown_;
  } else if (!blank) {
    ++hidden_;
    ++hidden_all_;
  }
  line_.clear();
  cut_ = false;
  return out;
}

std::string child_errors::last_words(std::size_t limit) const {
  std::string_view rest = tail_;
  std::string words;
  while (!rest.empty()) {
    const std::size_t start = rest.rfind('\n') + 1;  // npos + 1 is 0: the first line
    const std::string line = printable(rest.substr(start), longest_line);
    if (line.find_first_not_of(" ?\t") != std::string::npos) {
      const std::size_t needed = line.size() + (words.empty() ? 0 : 3);
      if (words.size() + needed > limit) {
        if (words.empty()) words = printable(line, limit);
        break;
      }
      words = words.empty() ? line : line + " | " + words;
    }
    rest = rest.substr(0, start == 0 ? 0 : start - 1);
  }
  return words;
}

}  // namespace switchgear::upstream
