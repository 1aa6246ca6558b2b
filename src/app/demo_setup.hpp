// The configuration that the demonstration runs with, and the ports that it may have.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>

namespace switchgear::app {

struct demo_places {
  std::string weather_url;
  std::string backup_url;
  std::string listen;  ///< HOST:PORT
  std::string admin;   ///< HOST:PORT
};

/// A configuration as a user would write it. The breaker's times are shortened so that a trip and a recovery fit into
/// half a minute; everything else is what a small set-up looks like.
std::string demo_configuration(const demo_places& places);

/// `wanted` when it is free on the loopback address, else some free port. Error: no port is free.
result<std::uint16_t> free_port(std::uint16_t wanted);

}  // namespace switchgear::app
