// What a peer wrote, made fit for a log line or an error text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace switchgear::upstream {

/// `text` on one line, in UTF-8, at most `limit` bytes: control characters and bytes that are no UTF-8 become '?'.
std::string printable(std::string_view text, std::size_t limit);

}  // namespace switchgear::upstream
