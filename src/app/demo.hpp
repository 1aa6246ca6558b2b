// `switchgear demo`: a gateway, a tool server that fails by schedule, and steady traffic, in one process.
#pragma once

namespace switchgear::app {

struct demo_settings {
  bool once = false;  ///< end after the summary; else the gateway stays up until SIGINT or SIGTERM
};

/// Shows the demonstration on stdout: redrawn in place on a terminal, one line a second elsewhere; without colour when
/// NO_COLOR is set. Takes the gateway's usual ports, or free ones when those are taken. Needs no network.
/// Returns the exit code: 0 when everything went as it should (demo_verdict.hpp says what that is), 1 when not,
/// 130 after SIGINT and 143 after SIGTERM during the show; 0 for a signal after it.
int run_demo(const demo_settings& settings);

}  // namespace switchgear::app
