// `switchgear status`: the breakers and upstreams of a running gateway as a table, read from its admin API.
#pragma once

#include "base/time.hpp"

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>

namespace switchgear::app {

/// Asks the gateway whose admin API listens on `admin` (IP:PORT) and writes the table to `out`, or one line that says
/// what is wrong to `problems`. Blocks for at most about twice `limit`. Returns the exit code: 0 when there is a table.
int status(const std::string& admin, std::ostream& out, std::ostream& problems,
           duration limit = std::chrono::seconds(5));

/// The table for the JSON texts of /api/circuits and /readyz; nothing when they are no such texts.
std::optional<std::string> status_table(std::string_view circuits, std::string_view readiness);

}  // namespace switchgear::app
