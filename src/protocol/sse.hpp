// Server-sent events, read in whatever pieces they come, and written as one data line each.
// Source: WHATWG HTML "Server-sent events" section 9.2.6; MCP basic/transports.
#pragma once

#include "base/buffer.hpp"
#include "base/parts.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace switchgear::protocol {

/// One event that carries data. The views are valid until the next call of next() or feed().
struct sse_event {
  std::string_view name;  ///< "message" if the stream named none
  std::string_view data;  ///< data lines, joined with LF; never empty

  /// Only these carry a JSON-RPC message; others are keep-alives or somebody's extension.
  bool is_message() const { return name == "message"; }
};

/// Usage: feed() a piece, then next() until it says `more`. Line ends may be LF, CRLF, CR and mixed; a byte order mark
/// is skipped. Comments, unknown fields and events without data give nothing. An event is given out only once its blank
/// line has come, so what a cut stream leaves unfinished is dropped. Not thread-safe. An event that lies whole in one
/// piece is not copied.
class sse_reader {
 public:
  enum class step : std::uint8_t {
    event,      ///< `out` holds one
    more,       ///< the piece is used up
    too_large,  ///< an event is above the limit; the reader gives nothing any more
  };

  /// `limit`: most bytes of one event's data, and of one line. What has to be copied is copied to memory of `pool`, if
  /// there is one: worth it where events are large.
  explicit sse_reader(std::size_t limit, buffer_pool* pool = nullptr) : limit_(limit), pool_(pool) {}

  /// `piece` must live until next() has said `more`.
  void feed(std::string_view piece) {
    piece_ = piece;
    next_lf_ = nullptr;
  }
  step next(sse_event& out);

  /// Bytes of the event that is not yet whole, once next() has said `more`. Comments have none.
  std::size_t held() const;

  /// The last `id` field seen, "" if none (RC-023).
  const std::string& last_id() const { return last_id_; }
  /// The last valid `retry` field, in milliseconds.
  std::optional<std::uint32_t> retry_ms() const { return retry_ms_; }

 private:
  static constexpr std::size_t longest_name = 256;

  // Where the only data line of the event is.
  enum class place : std::uint8_t { piece, line, home };

  bool take_line(std::string_view& line);
  bool take_field(std::string_view line);
  bool take_data(std::string_view value);
  bool keep();
  void append(buffer& to, std::string_view bytes);
  void release(buffer& used);
  step fail();
  void forget_event();

  std::size_t limit_;
  buffer_pool* pool_;
  std::string_view piece_;         // what is left of it
  const char* next_lf_ = nullptr;  // in piece_, its end if there is none; null: not yet looked for
  buffer line_;                    // the start of a line whose end came, or will come, in a later piece
  bool line_done_ = false;         // line_ has been given out
  bool skip_lf_ = false;           // the last line ended with CR; an LF would belong to it
  bool at_start_ = true;
  bool failed_ = false;
  bool event_given_ = false;

  bool has_data_ = false;
  std::string_view single_;  // the only data line so far
  place single_in_ = place::piece;
  buffer home_;    // where single_ lives once its piece is gone
  buffer joined_;  // two data lines and more

  std::string name_;
  std::string last_id_;
  std::optional<std::uint32_t> retry_ms_;
};

/// The event that carries `message` in one data line. Pieces point to `message` and to constants; only if the message
/// has raw line breaks is it copied, without them, to `space` (RC-022).
void write_event(std::string_view message, std::string& space, parts& out);

/// The same for a message in pieces: puts the framing around them.
void frame_event(parts& message, std::string& space);

/// A comment that keeps a stream warm.
inline constexpr std::string_view keep_alive_event = ": keep-alive\n\n";

}  // namespace switchgear::protocol
