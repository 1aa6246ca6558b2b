#include "protocol/schema.hpp"
#include "targets.hpp"

namespace switchgear::fuzz {

// The schema, a NUL, and the value to check; without a NUL the schema checks its own text.
void schema(std::string_view input) {
  const std::size_t end = input.find('\0');
  const std::string_view text = input.substr(0, end);
  std::string why;
  const auto compiled = protocol::schema::compile(text, &why);
  must(compiled.has_value() || !why.empty(), "a refused schema has a reason");
  if (!compiled) return;
  const std::string_view value = end == std::string_view::npos ? text : input.substr(end + 1);
  const bool first = (*compiled)->accepts(value, &why);
  must(first || !why.empty(), "a refused value has a reason");
  must((*compiled)->accepts(value) == first, "the same value gets the same answer");
}

}  // namespace switchgear::fuzz
