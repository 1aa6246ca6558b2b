#include "protocol/header_value.hpp"
#include "protocol/mirrored_arguments.hpp"
#include "targets.hpp"

#include <map>
#include <string>

namespace switchgear::fuzz {

// The first line is an inputSchema, what is behind it a call's arguments.
void mirrored(std::string_view input) {
  const std::size_t line = input.find('\n');
  const std::string_view schema = input.substr(0, line);
  const std::string_view arguments = line == std::string_view::npos ? "" : input.substr(line + 1);
  const protocol::schema_headers found = protocol::read_schema_headers(schema);
  must(found.problem.empty() || found.arguments.empty(), "a tool with a problem mirrors nothing");
  must(found.arguments.size() <= protocol::most_mirrored, "headers are bounded");

  std::string lines = protocol::mirrored_lines(found.arguments, arguments);
  std::map<std::string, std::string, std::less<>> sent;
  for (std::string_view rest = lines; !rest.empty();) {
    const std::size_t colon = rest.find(": "), end = rest.find("\r\n");
    must(colon != std::string_view::npos && end != std::string_view::npos && colon < end, "a line is a whole header");
    sent.emplace(rest.substr(0, colon), rest.substr(colon + 2, end - colon - 2));
    rest.remove_prefix(end + 2);
  }
  const auto field = [&](std::string_view name) -> std::optional<std::string_view> {
    const auto at = sent.find(name);
    if (at == sent.end()) return std::nullopt;
    return at->second;
  };
  must(protocol::mirrored_difference(found.arguments, arguments, field).empty(), "what we write, we accept");
}

}  // namespace switchgear::fuzz
