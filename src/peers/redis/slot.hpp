// Where in a cluster a key lives. Nothing but arithmetic.
#pragma once

#include "peers/redis/exchange.hpp"

#include <string_view>

namespace switchgear::peers::redis {

/// Which of the 16384 slots of a cluster a key is in: CRC-16/XMODEM of what stands in its braces.
unsigned slot_of(std::string_view key);

struct routed {
  unsigned slot;
  command words;
};

}  // namespace switchgear::peers::redis
