#include "protocol/edits.hpp"

#include <algorithm>

namespace switchgear::protocol {

void edits::apply(std::string_view text, parts& out) {
  std::ranges::sort(all_, {}, &edit::begin);
  std::size_t done = 0;
  for (const edit& one : all_) {
    if (one.begin > done) out.push_back(text.substr(done, one.begin - done));
    if (!one.with.empty()) out.push_back(one.with);
    done = one.end;
  }
  if (done < text.size()) out.push_back(text.substr(done));
}

}  // namespace switchgear::protocol
