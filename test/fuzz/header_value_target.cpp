#include "protocol/header_value.hpp"
#include "targets.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace switchgear::fuzz {

void header_value(std::string_view input) {
  const std::string value = protocol::encode_header_value(input);
  must(protocol::decode_header_value(value) == input, "what was encoded is read again");
  must(std::ranges::all_of(value, [](char c) { return c == '\t' || (c >= ' ' && c <= '~'); }),
       "a value is one line of plain characters");

  const std::optional<std::string> text = protocol::decode_header_value(input);
  if (!text) return;
  must(text->size() <= input.size(), "decoding makes nothing longer");
  must(protocol::decode_header_value(protocol::encode_header_value(*text)) == text, "and means the same again");
}

}  // namespace switchgear::fuzz
