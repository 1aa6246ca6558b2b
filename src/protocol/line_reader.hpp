// Lines out of a byte stream: the framing of MCP over stdio. Source: MCP basic/transports "stdio".
#pragma once

#include "base/buffer.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace switchgear::protocol {

/// Usage: feed() a piece, then next() until it says `more`. A line ends with LF or CRLF; blank lines give nothing. No
/// byte is looked at twice, however the stream is cut, and a line that lies whole in one piece is not copied.
/// Not thread-safe.
class line_reader {
 public:
  enum class step : std::uint8_t {
    line,       ///< `out` is one line, without its end; valid until the next call of next() or feed()
    more,       ///< the piece is used up
    too_large,  ///< a line is above the limit: said once, the line is skipped to its end, the next one is read (RC-050)
  };

  /// `limit`: most bytes of a line.
  explicit line_reader(std::size_t limit) : limit_(limit) {}

  /// `piece` must live until next() has said `more`.
  void feed(std::string_view piece) { piece_ = piece; }
  step next(std::string_view& out);

  /// The stream has ended: what came after the last line end, as a last line. Call after `more`.
  step finish(std::string_view& out);

 private:
  step give(std::string_view line, std::string_view& out);
  void forget();

  std::size_t limit_;
  std::string_view piece_;
  buffer held_;         // the start of a line whose end has not come
  bool given_ = false;  // held_ holds a line that has been given out
  bool skipping_ = false;
};

}  // namespace switchgear::protocol
