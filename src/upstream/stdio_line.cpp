#include "upstream/stdio_line.hpp"

#include "protocol/line_writer.hpp"
#include "protocol/rewrite.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace switchgear::upstream {

namespace {

constexpr std::string_view blanks = " \t\r\n";

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
}

bool take(std::string_view& text, char wanted) {
  skip_blanks(text);
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

// A string without escapes, without its quotes.
std::optional<std::string_view> take_plain_string(std::string_view& text) {
  if (!take(text, '"')) return std::nullopt;
  const std::size_t end = text.find_first_of("\"\\");
  if (end == std::string_view::npos || text[end] == '\\') return std::nullopt;
  const std::string_view inside = text.substr(0, end);
  text.remove_prefix(end + 1);
  return inside;
}

// A number that is known to be complete, because something comes after it.
std::optional<std::string_view> take_number(std::string_view& text) {
  skip_blanks(text);
  const std::size_t end = text.find_first_not_of("+-.0123456789eE");
  if (end == 0 || end == std::string_view::npos) return std::nullopt;
  const std::string_view token = text.substr(0, end);
  text.remove_prefix(end);
  return token;
}

// Reads members whose values are plain strings or numbers, as far as there are such, and gives the value of `id`.
std::optional<std::uint64_t> id_among(std::string_view members) {
  do {
    const auto key = take_plain_string(members);
    if (!key || !take(members, ':')) return std::nullopt;
    skip_blanks(members);
    const bool is_string = members.starts_with('"');
    const auto value = is_string ? take_plain_string(members) : take_number(members);
    if (!value) return std::nullopt;
    if (*key == "id") return is_string ? std::nullopt : our_id(*value);
  } while (take(members, ','));
  return std::nullopt;
}

}  // namespace

std::string stdio_line(const port::outgoing_request& request, std::uint64_t id, protocol::era to) {
  const std::string number = std::to_string(id);
  protocol::rewritten line;
  protocol::rewrite_request(request.text, *request.seen, request.client.era,
                            {.id = number,
                             .target = request.target,
                             .progress_token = number,
                             .to = to,
                             .abilities = request.client.abilities,
                             .log_level = request.client.log_level,
                             .request_state = request.request_state,
                             .input_responses = request.input_responses},
                            line);
  return protocol::write_line(line.pieces);
}

std::optional<std::uint64_t> our_id(std::string_view token) {
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), id);
  if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return id;
}

void stdio_line_ends::too_large() {
  skipping_ = true;
  tail_.clear();
}

bool stdio_line_ends::piece_read(std::string_view piece, std::optional<std::uint64_t>& owner) {
  bool ended = false;
  if (skipping_) {
    const std::size_t end = piece.find('\n');
    tail_.append(piece.substr(0, end));
    if (tail_.size() > kept) tail_.erase(0, tail_.size() - kept);
    if (end == std::string_view::npos) return false;
    // A head that is gone means that the line began in the middle of a piece: its tail may then be another line's.
    if (!head_.empty()) {
      owner = id_at_start(head_);
      if (!owner) owner = id_at_end(tail_);
    }
    skipping_ = false;
    head_.clear();
    ended = true;
  }
  const std::size_t start = piece.rfind('\n') + 1;  // npos + 1 is 0: the line goes on
  if (start != 0) head_.clear();
  head_.append(piece.substr(start, kept - head_.size()));
  return ended;
}

std::optional<std::uint64_t> id_at_start(std::string_view head) {
  if (!take(head, '{')) return std::nullopt;
  return id_among(head);
}

std::optional<std::uint64_t> id_at_end(std::string_view tail) {
  tail = tail.substr(0, tail.find_last_not_of(blanks) + 1);
  if (!tail.ends_with('}')) return std::nullopt;
  // The last bracket before closes the value of a member of the outermost object; plain members follow it.
  const std::size_t bracket = tail.find_last_of("{}[]", tail.size() - 2);
  if (tail.size() < 2 || bracket == std::string_view::npos || tail[bracket] != '}') return std::nullopt;
  std::string_view members = tail.substr(bracket + 1);
  if (!take(members, ',')) return std::nullopt;
  return id_among(members);
}

}  // namespace switchgear::upstream
