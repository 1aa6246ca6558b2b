#include "http/chunks.hpp"

#include "http/errc.hpp"

#include <algorithm>
#include <cstring>

namespace switchgear::http {

namespace {
int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}
}  // namespace

result<chunk_reader::progress> chunk_reader::decode(char* piece, std::size_t size) {
  progress made;
  std::size_t at = 0;
  while (at < size && state_ != state::done) {
    const char byte = piece[at];
    switch (state_) {
      case state::size: {
        if (const int digit = hex_value(byte); digit >= 0) {
          if (left_ >> 56 != 0) return errc::bad_chunk;
          left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
          has_digit_ = true;
        } else if (!has_digit_) {
          return errc::bad_chunk;
        } else if (byte == '\r') {
          state_ = state::size_lf;
        } else if (byte == ';') {
          line_bytes_ = 0;
          state_ = state::extension;
        } else {
          return errc::bad_chunk;
        }
        ++at;
        break;
      }
      case state::extension:
        if (byte == '\n' || ++line_bytes_ > most_line_bytes) return errc::bad_chunk;
        if (byte == '\r') state_ = state::size_lf;
        ++at;
        break;
      case state::size_lf:
        if (byte != '\n') return errc::bad_chunk;
        state_ = left_ == 0 ? state::trailer : state::data;
        line_bytes_ = 0;
        has_digit_ = false;
        ++at;
        break;
      case state::data: {
        const std::size_t run = static_cast<std::size_t>(std::min<std::uint64_t>(left_, size - at));
        if (made.produced != at) std::memmove(piece + made.produced, piece + at, run);
        made.produced += run;
        at += run;
        left_ -= run;
        if (left_ == 0) state_ = state::data_cr;
        break;
      }
      case state::data_cr:
        if (byte != '\r') return errc::bad_chunk;
        state_ = state::data_lf;
        ++at;
        break;
      case state::data_lf:
        if (byte != '\n') return errc::bad_chunk;
        state_ = state::size;
        ++at;
        break;
      case state::trailer:
        if (byte == '\n' || ++trailer_bytes_ > most_trailer_bytes) return errc::bad_chunk;
        if (byte == '\r') {
          state_ = line_bytes_ == 0 ? state::end_lf : state::trailer_lf;
        } else {
          ++line_bytes_;
        }
        ++at;
        break;
      case state::trailer_lf:
        if (byte != '\n') return errc::bad_chunk;
        line_bytes_ = 0;
        state_ = state::trailer;
        ++at;
        break;
      case state::end_lf:
        if (byte != '\n') return errc::bad_chunk;
        state_ = state::done;
        ++at;
        break;
      case state::done:
        break;
    }
  }
  made.consumed = at;
  return made;
}

}  // namespace switchgear::http
