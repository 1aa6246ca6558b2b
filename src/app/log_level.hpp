// The configuration's word for how much is logged.
#pragma once

#include "observe/log.hpp"

#include <string_view>

namespace switchgear::app {

/// `word` is one of debug, info, warn, error, off; config has checked it.
constexpr observe::level log_level(std::string_view word) {
  if (word == "debug") return observe::level::debug;
  if (word == "warn") return observe::level::warning;
  if (word == "error") return observe::level::error;
  if (word == "off") return observe::level::off;
  return observe::level::info;
}

}  // namespace switchgear::app
