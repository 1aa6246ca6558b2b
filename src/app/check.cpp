#include "app/check.hpp"

#include "app/arguments.hpp"
#include "config/effective.hpp"

#include <ostream>

namespace switchgear::app {

int check(const std::string& file, std::ostream& out, std::ostream& problems, const config::environment& variables) {
  const config::reading made = config::read_file(file, variables);
  for (const config::problem& error : made.errors) problems << to_string(error, made.file) << '\n';
  for (config::problem warning : made.warnings) {
    warning.what.insert(0, "warning: ");
    problems << to_string(warning, made.file) << '\n';
  }
  if (!made.gateway) return exit_failed;
  out << config::effective_yaml(made);
  return exit_ok;
}

}  // namespace switchgear::app
