#include "protocol/sse.hpp"

#include "protocol/text.hpp"

#include <charconv>
#include <utility>

namespace switchgear::protocol {

namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::string_view data_field = "data: ";
constexpr std::string_view event_end = "\n\n";

}  // namespace

// How an event stays uncopied: its only data line is remembered as a view (`single_`) of the piece or of `line_`. It
// moves to `home_` when a piece ends before the event does, and to `joined_` when a second data line comes.

sse_reader::step sse_reader::next(sse_event& out) {
  if (failed_) return step::too_large;
  if (event_given_) forget_event();
  std::string_view line;
  while (take_line(line)) {
    if (!line.empty()) {
      if (!take_field(line)) return fail();
      continue;
    }
    const std::string_view data = joined_.empty() ? single_ : joined_.view();
    if (data.empty()) {  // no data line, or one empty one: a priming event (RC-023)
      forget_event();
      continue;
    }
    out.name = name_.empty() ? std::string_view("message") : std::string_view(name_);
    out.data = data;
    event_given_ = true;
    return step::event;
  }
  return keep() ? step::more : fail();
}

sse_reader::step sse_reader::fail() {
  failed_ = true;
  line_ = {};
  home_ = {};
  joined_ = {};
  piece_ = single_ = {};
  return step::too_large;
}

void sse_reader::forget_event() {
  event_given_ = false;
  has_data_ = false;
  single_ = {};
  release(home_);
  release(joined_);
  name_.clear();
}

// The next complete line, without its end. It points to the piece, or to `line_` if it began in an earlier piece.
bool sse_reader::take_line(std::string_view& line) {
  if (skip_lf_ && !piece_.empty()) {
    if (piece_.front() == '\n') piece_.remove_prefix(1);
    skip_lf_ = false;
  }
  // Where the next LF is stays known while lines that end with CR are taken: each byte is searched once.
  const char* const end = piece_.data() + piece_.size();
  if (next_lf_ == nullptr || next_lf_ < piece_.data()) {
    const std::size_t lf = piece_.find('\n');
    next_lf_ = lf == std::string_view::npos ? end : piece_.data() + lf;
  }
  const auto before_lf = static_cast<std::size_t>(next_lf_ - piece_.data());
  const std::size_t cr = piece_.substr(0, before_lf).find('\r');
  if (cr == std::string_view::npos && next_lf_ == end) return false;
  const std::size_t size = cr == std::string_view::npos ? before_lf : cr;
  line = piece_.substr(0, size);
  skip_lf_ = piece_[size] == '\r';
  piece_.remove_prefix(size + 1);

  if (!line_.empty() && !line_done_) {
    append(line_, line);
    line = line_.view();
    line_done_ = true;
  }
  if (at_start_) {
    at_start_ = false;
    if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  }
  return true;
}

void sse_reader::append(buffer& to, std::string_view bytes) {
  if (bytes.empty()) return;
  if (to.capacity() == 0 && pool_ != nullptr) to = pool_->take();
  to.append(bytes);
}

void sse_reader::release(buffer& used) {
  // Without a pool the memory is used again, unless a large event needed it.
  constexpr std::size_t kept = std::size_t{64} * 1024;
  if (pool_ != nullptr || used.capacity() > kept) {
    used = {};
  } else {
    used.clear();
  }
}

bool sse_reader::take_field(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == 0) return true;
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);

  if (field == "data") return take_data(value);
  if (field == "event") {
    name_ = value.substr(0, longest_name);
  } else if (field == "id") {
    if (value.size() <= longest_name && value.find('\0') == std::string_view::npos) last_id_ = value;
  } else if (field == "retry") {
    std::uint32_t time = 0;
    const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), time);
    if (fault == std::errc{} && !value.empty() && end == value.data() + value.size()) retry_ms_ = time;
  }
  return true;
}

bool sse_reader::take_data(std::string_view value) {
  if (!has_data_) {
    has_data_ = true;
    single_ = value;
    // line_ gives out at most one line between two pieces, the first.
    const bool in_line = line_done_ && value.data() >= line_.data() && value.data() <= line_.data() + line_.size();
    single_in_ = in_line ? place::line : place::piece;
    return value.size() <= limit_;
  }
  if (joined_.empty()) append(joined_, single_);
  single_ = {};
  if (joined_.size() + 1 + value.size() > limit_) return false;
  append(joined_, "\n");
  append(joined_, value);
  return true;
}

// The piece is used up: what is still needed of it is kept.
bool sse_reader::keep() {
  if (!single_.empty() && single_in_ == place::piece) {
    home_.clear();
    append(home_, single_);
    single_ = home_.view();
  } else if (!single_.empty() && single_in_ == place::line) {
    home_ = std::move(line_);  // the bytes stay where they are, and so does the view
  }
  single_in_ = place::home;
  if (line_done_) {
    line_done_ = false;
    release(line_);
  }
  // The field's name and a line end come on top of the data.
  if (line_.size() + piece_.size() > limit_ + data_field.size() + 2) return false;
  append(line_, piece_);
  piece_ = {};
  return true;
}

std::size_t sse_reader::held() const {
  const bool in_data = line_.view().starts_with(data_field.substr(0, line_.size()));
  return std::max(single_.size(), joined_.size()) + (in_data ? line_.size() : 0);
}

void write_event(std::string_view message, std::string& space, parts& out) {
  out.push_back(data_field);
  out.push_back(one_line(message, space));
  out.push_back(event_end);
}

void frame_event(parts& message, std::string& space) {
  one_line(message, space);
  message.insert(message.begin(), data_field);
  message.push_back(event_end);
}

}  // namespace switchgear::protocol
