// A text in which a few stretches are exchanged, as pieces: what stays is not copied.
#pragma once

#include "base/parts.hpp"
#include "protocol/message.hpp"

#include <boost/container/small_vector.hpp>

#include <cstddef>
#include <string_view>

namespace switchgear::protocol {

/// What stands in the place of [begin, end) of a text; both may be empty.
struct edit {
  std::size_t begin = 0, end = 0;
  std::string_view with;
};

/// Edits of one text, in any order, that do not overlap.
class edits {
 public:
  /// Nothing if the member is absent or `token` is empty.
  void replace(span place, std::string_view token) {
    if (place && !token.empty()) add({place.offset, std::size_t{place.offset} + place.size, token});
  }
  void add(const edit& one) { all_.push_back(one); }

  /// The text with all edits. Pieces point into `text` and into what was given.
  void apply(std::string_view text, parts& out);

 private:
  boost::container::small_vector<edit, 6> all_;
};

}  // namespace switchgear::protocol
