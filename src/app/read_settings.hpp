// The configuration that a command line asks for.
#pragma once

#include "app/arguments.hpp"
#include "config/gateway.hpp"

#include <iosfwd>
#include <optional>

namespace switchgear::app {

/// The file of the command line, if it names one, with what its options say above the file. Nothing: `problems` has a
/// line for each. Warnings go there, too.
std::optional<config::gateway> read_settings(const arguments& given, std::ostream& problems);

}  // namespace switchgear::app
