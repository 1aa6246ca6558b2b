// `switchgear serve`: a gateway that runs until SIGINT or SIGTERM.
#pragma once

#include "app/arguments.hpp"
#include "config/gateway.hpp"

#include <iosfwd>

namespace switchgear::app {

/// Reads the file, lets the command line overrule it, starts, and ends cleanly on the first signal (at once on the
/// second). Every problem is one line on `problems`. Returns the exit code.
int serve(const arguments& given, std::ostream& problems);

}  // namespace switchgear::app
