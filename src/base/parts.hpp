// A message as pieces of memory, to be written in one gathered write.
#pragma once

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace switchgear {

/// Views into memory that somebody else owns, in the order in which they go out.
/// Rewriting one member of a large JSON text costs two more pieces, not a copy.
using parts = boost::container::small_vector<std::string_view, 8>;

inline std::size_t total_size(const parts& pieces) {
  std::size_t sum = 0;
  for (std::string_view piece : pieces) sum += piece.size();
  return sum;
}

inline std::string joined(const parts& pieces) {
  std::string text;
  text.reserve(total_size(pieces));
  for (std::string_view piece : pieces) text.append(piece);
  return text;
}

}  // namespace switchgear
