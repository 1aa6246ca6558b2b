// One message, one line: what goes into a child's stdin, and whose answer a line was that was too long to keep.
#pragma once

#include "port/upstream.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace switchgear::upstream {

/// A client's request as a child of era `to` gets it: `id` in place of the id and of the progress token, and what else
/// the request wants replaced.
std::string stdio_line(const port::outgoing_request& call, std::uint64_t id, protocol::era to);

/// A raw token as one of our ids; nothing if it cannot be one.
std::optional<std::uint64_t> our_id(std::string_view token);

/// Remembers how the unfinished line began and, when it proves too long, how it ends, 256 bytes each, so that an answer
/// above the size limit still finds its call (RC-050): servers write the id either before the result or after it.
class stdio_line_ends {
 public:
  static constexpr std::size_t kept = 256;

  /// The piece at hand held the end of a line that was read whole.
  void line_read() { head_.clear(); }
  /// The piece at hand took a line over the limit.
  void too_large();
  /// All lines of `piece` were read. True when an over-limit line ended in it; `owner` is then the call that it
  /// answered, if that can be told.
  bool piece_read(std::string_view piece, std::optional<std::uint64_t>& owner);

 private:
  std::string head_;
  std::string tail_;
  bool skipping_ = false;
};

/// The id of a response of which only the beginning or only the end is known; nothing if it is not there without doubt.
std::optional<std::uint64_t> id_at_start(std::string_view head);
std::optional<std::uint64_t> id_at_end(std::string_view tail);

}  // namespace switchgear::upstream
