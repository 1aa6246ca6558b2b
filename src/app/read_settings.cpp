#include "app/read_settings.hpp"

#include "config/read.hpp"
#include "config/values.hpp"

#include <ostream>
#include <utility>

namespace switchgear::app {

namespace {

// parse_arguments has checked the values of the command line.
void overrule(config::gateway& settings, const arguments& given) {
  if (given.listen) {
    const auto where = config::parse_endpoint(*given.listen);
    settings.listen.address = where->address;
    settings.listen.port = where->port;
  }
  if (given.admin) {
    const auto where = config::parse_endpoint(*given.admin);
    settings.admin.address = where->address;
    settings.admin.port = where->port;
    settings.admin.named = true;
  }
  if (given.state) settings.state = *given.state;
  if (given.threads) settings.threads = *given.threads;
}

}  // namespace

std::optional<config::gateway> read_settings(const arguments& given, std::ostream& problems) {
  config::gateway settings;
  if (!given.file.empty()) {
    config::reading read = config::read_file(given.file);
    for (const config::problem& one : read.errors) problems << to_string(one, read.file) << '\n';
    for (config::problem one : read.warnings) {
      one.what.insert(0, "warning: ");
      problems << to_string(one, read.file) << '\n';
    }
    if (!read.gateway) return std::nullopt;
    settings = std::move(*read.gateway);
  }
  overrule(settings, given);
  return settings;
}

}  // namespace switchgear::app
