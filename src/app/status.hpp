// `switchgear status`: the circuits of a running gateway as a table, read from its admin API.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"

namespace switchgear::app {

/// Asks the gateway whose admin API listens on `admin` (HOST:PORT) and writes a table to `out`, or one line that says
/// what is wrong to `problems`. Blocks for at most `limit`. Returns the exit code.
int status(const std::string& admin, std::ostream& out, std::ostream& problems,
           duration limit = std::chrono::seconds(5));

/// The table for the JSON texts of /api/circuits and /readyz. The error is a sentence.
boost::system::result<std::string, std::string> status_table(std::string_view circuits, std::string_view readiness);

}  // namespace switchgear::app
