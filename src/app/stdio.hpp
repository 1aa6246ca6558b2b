// `switchgear stdio`: the gateway for one client, which started it and speaks over its standard streams.
#pragma once

#include "app/arguments.hpp"

#include <iosfwd>

namespace switchgear::app {

/// Runs until the client closes our standard input or stops reading our output, or until SIGINT or SIGTERM. Only
/// messages go to standard output; the log goes to stderr. The exit code.
int run_stdio(const arguments& given, std::ostream& problems);

}  // namespace switchgear::app
