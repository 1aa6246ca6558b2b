// JSON strings in and out, and the one-line form that line-oriented framings need.
#pragma once

#include "base/parts.hpp"
#include "base/result.hpp"

#include <string>
#include <string_view>

namespace switchgear::protocol {

/// Appends `text` as the inside of a JSON string. Bytes that are no UTF-8 become U+FFFD, so that the result is valid
/// JSON whatever came in.
void append_escaped(std::string& out, std::string_view text);

/// The same with its quotes: a complete JSON string token.
void append_quoted(std::string& out, std::string_view text);
std::string quoted(std::string_view text);

/// What a raw JSON string token (with its quotes) says, in UTF-8. An unpaired surrogate becomes U+FFFD.
/// Errors: errc::not_json.
result<std::string> unquoted(std::string_view token);

/// `json` without line breaks. JSON has raw line breaks only between tokens, where they say nothing, so they are left
/// out. Points into `json` if it has none, else into `space`.
std::string_view one_line(std::string_view json, std::string& space);

/// The same for a message in pieces: untouched if no piece has a line break, else one piece that points into `space`.
void one_line(parts& pieces, std::string& space);

/// The first `limit` bytes of `text`, shortened so that no UTF-8 sequence is cut.
std::string_view head(std::string_view text, std::size_t limit);

}  // namespace switchgear::protocol
