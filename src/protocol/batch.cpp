#include "protocol/batch.hpp"

#include "protocol/errc.hpp"
#include "protocol/scan.hpp"

namespace switchgear::protocol {

bool is_batch(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '[';
}

result<std::vector<std::string_view>> split_batch(std::string_view text) {
  token_index index;
  scanner in(text, index);
  std::vector<std::string_view> elements;
  for (bool more = in.open('['); more; more = in.another(']')) {
    std::string_view element;
    if (!in.skip(element)) break;
    // Read on to the end, so that a broken text is reported as one.
    if (elements.size() <= most_in_batch) elements.push_back(element);
  }
  if (!in.finish()) return in.why();
  if (elements.empty() || elements.size() > most_in_batch) return errc::batch;
  return elements;
}

}  // namespace switchgear::protocol
