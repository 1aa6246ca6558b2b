// `switchgear check FILE`: is the file right, and what does it mean?
#pragma once

#include "config/read.hpp"

#include <iosfwd>
#include <string>

namespace switchgear::app {

/// Reads the file, writes the effective values as YAML to `out` and every error and warning, one a line, to `problems`.
/// Values of headers and of environment variables are masked. Returns the exit code: 0, or 1 when there is an error.
int check(const std::string& file, std::ostream& out, std::ostream& problems,
          const config::environment& variables = config::process_environment);

}  // namespace switchgear::app
