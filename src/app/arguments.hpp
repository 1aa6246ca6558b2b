// The command line as a plain value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace switchgear::app {

/// Exit codes of the program.
inline constexpr int exit_ok = 0;
inline constexpr int exit_failed = 1;  ///< configuration, start-up, or what was asked for did not succeed
inline constexpr int exit_usage = 2;   ///< the command line itself is wrong

enum class command : std::uint8_t {
  nothing,  ///< the text to print says it all: help, version, or what is wrong with the command line
  serve,
  stdio,
  demo,
  check,
  status,
};

/// A parsed command line. Options that were not given stay empty, so that the configuration file's word holds.
struct arguments {
  app::command command = app::command::nothing;
  std::string file;                   ///< serve: may be empty; stdio: the configuration; check: the file to check
  std::optional<std::string> listen;  ///< serve, demo: IP:PORT, checked by config::parse_endpoint
  std::optional<std::string> admin;   ///< serve, stdio, demo, status
  std::optional<std::string> state;   ///< serve, stdio
  std::optional<unsigned> threads;    ///< serve
  bool once = false;                  ///< demo

  std::string text;         ///< with command::nothing: what to print, line end included
  int exit_code = exit_ok;  ///< with command::nothing: what to exit with; text goes to stderr unless it is exit_ok
};

/// Parses a command line; prints nothing, never exits, never throws.
arguments parse_arguments(int argc, const char* const* argv);

}  // namespace switchgear::app
