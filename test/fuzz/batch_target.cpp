#include "protocol/batch.hpp"
#include "targets.hpp"

namespace switchgear::fuzz {

void batch(std::string_view input) {
  const auto elements = protocol::split_batch(input);
  if (!elements) return;
  must(protocol::is_batch(input), "what can be split was told from a message");
  must(!elements->empty() && elements->size() <= protocol::most_in_batch, "as many as are allowed");
  const char* end = input.data();
  for (std::string_view element : *elements) {
    must(!element.empty() && element.data() >= end, "one after the other");
    end = element.data() + element.size();
  }
  must(end <= input.data() + input.size(), "inside of the text");
}

}  // namespace switchgear::fuzz
