// Bodies that a server compressed although nobody asked for it. zlib does the work.
// Source: RFC 9110 section 8.4.1; RFC 1950, 1951, 1952.
#pragma once

#include "base/buffer.hpp"
#include "http/errc.hpp"

#include <cstddef>
#include <memory>
#include <string_view>

namespace switchgear::http {

/// One body, piece by piece, as it comes. Not thread-safe.
class inflater {
 public:
  /// Whether a Content-Encoding is one that can be taken off: gzip, x-gzip, deflate.
  static bool knows(std::string_view content_encoding);

  inflater();
  ~inflater();
  inflater(const inflater&) = delete;
  inflater& operator=(const inflater&) = delete;

  /// Appends what `compressed` says to `out`, as much as can be said by now. Errors: bad_encoding; too_much when `out`
  /// would hold more than `most` bytes, of which it then holds some.
  error_code decode(std::string_view compressed, buffer& out, std::size_t most);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace switchgear::http
