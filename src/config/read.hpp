// Reads a configuration: the gateway's own YAML, or an mcp.json as desktop clients write it.
#pragma once

#include "config/gateway.hpp"
#include "config/problem.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchgear::config {

/// Gives the value of an environment variable, nothing when it is not set.
using environment = std::function<std::optional<std::string>(std::string_view name)>;

/// The environment of this process.
std::optional<std::string> process_environment(std::string_view name);

/// What came of a file.
struct reading {
  std::string file;                        ///< as it was named; for messages
  std::optional<config::gateway> gateway;  ///< set when there are no errors
  std::vector<problem> errors;             ///< every error that could be found, in the order of the file
  std::vector<problem> warnings;           ///< what was tolerated or will hardly be meant
  std::vector<std::pair<std::string, std::string>> substituted;  ///< variables that `${...}` used, and their values
};

/// Reads and checks a text of at most 4 MiB. `file` is its name in messages. The content decides which form it is: a
/// mapping with the key `mcpServers` is an mcp.json. Never throws for anything that the text may say.
reading read_text(std::string_view text, std::string file, const environment& variables = process_environment);

/// Reads and checks a file; one that cannot be read is an error in the reading.
reading read_file(const std::string& path, const environment& variables = process_environment);

}  // namespace switchgear::config
