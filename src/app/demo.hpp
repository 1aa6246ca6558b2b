// `switchgear demo`: a gateway, a tool server that fails by schedule, and steady traffic, in one process.
#pragma once

#include <optional>
#include <string>

namespace switchgear::app {

struct demo_settings {
  bool once = false;                  ///< end after the summary; else the gateway stays up until SIGINT or SIGTERM
  std::optional<std::string> listen;  ///< HOST:PORT; none: 127.0.0.1:8080, or a free port when that is taken
  std::optional<std::string> admin;   ///< HOST:PORT; none: 127.0.0.1:9090, or a free port when that is taken
};

/// Shows the demonstration on stdout: redrawn in place on a terminal, one line a second elsewhere; without colour when
/// NO_COLOR is set. Needs no network.
/// Returns the exit code: 0 when everything went as it should (demo_story::complaints), 1 when not or when it could not
/// start; 130 after SIGINT and 143 after SIGTERM during the show. A signal after the show ends the gateway that stays
/// up.
int run_demo(const demo_settings& settings);

}  // namespace switchgear::app
