// Reads configuration texts in tests, with an environment that the test chooses.
#pragma once

#include "config/read.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::config::test {

inline reading read(std::string_view text, std::map<std::string, std::string, std::less<>> variables = {}) {
  return read_text(text, "test.yaml", [&](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

inline std::vector<std::string> lines(const std::vector<problem>& all) {
  std::vector<std::string> made;
  for (const problem& each : all) made.push_back(to_string(each, "test.yaml"));
  return made;
}

inline std::vector<std::string> errors_of(std::string_view text) {
  return lines(read(text).errors);
}

inline std::string joined(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& each : all) text += each + '\n';
  return text;
}

}  // namespace switchgear::config::test
