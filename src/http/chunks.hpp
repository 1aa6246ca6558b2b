// The chunked transfer coding, taken off while bytes arrive. Source: RFC 9112 section 7.1.
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace switchgear::http {

/// Decodes one chunked body, piece by piece. Extensions and trailers are skipped (bounded); bare LF is refused.
class chunk_reader {
 public:
  struct progress {
    std::size_t consumed = 0;  ///< bytes of the piece that belong to this body
    std::size_t produced = 0;  ///< bytes of payload, now at the front of the piece
  };

  /// Decodes `size` bytes in place. After the end of the body `done()` is true and the bytes behind `consumed` belong
  /// to the next message (they are not moved). Errors: errc::bad_chunk; the reader is of no use afterwards.
  result<progress> decode(char* piece, std::size_t size);

  bool done() const { return state_ == state::done; }

 private:
  enum class state : std::uint8_t {
    size,
    extension,
    size_lf,
    data,
    data_cr,
    data_lf,
    trailer,
    trailer_lf,
    end_lf,
    done
  };

  static constexpr std::size_t most_line_bytes = 4096;  // an extension or a trailer
  static constexpr std::size_t most_trailer_bytes = 16 * 1024;

  state state_ = state::size;
  bool has_digit_ = false;
  std::uint64_t left_ = 0;
  std::size_t line_bytes_ = 0;
  std::size_t trailer_bytes_ = 0;
};

}  // namespace switchgear::http
