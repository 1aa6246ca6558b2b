#include "protocol/uri_template.hpp"
#include "targets.hpp"

#include <string>

namespace switchgear::fuzz {

// The first line is a template, what is behind it a URI.
void uri_template(std::string_view input) {
  const std::size_t line = input.find('\n');
  const std::string_view text = input.substr(0, line);
  const auto compiled = protocol::uri_template::compile(text);
  if (!compiled) return;
  const bool plain = text.find('{') == std::string_view::npos;
  must(compiled->literal_size() <= text.size(), "literals are a part of the template");
  must(!plain || compiled->matches(text), "a template without expressions matches itself");
  if (line == std::string_view::npos) return;
  const std::string_view uri = input.substr(line + 1);
  const bool matched = compiled->matches(uri);
  must(!matched || uri.size() >= compiled->literal_size(), "what matches holds the literals");
  must(!plain || matched == (uri == text), "and nothing else does");
}

}  // namespace switchgear::fuzz
