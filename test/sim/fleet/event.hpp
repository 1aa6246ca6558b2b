// What happens to a fleet, as plain values: a schedule can be printed, cut down, and played again.
#pragma once

#include "breaker/outcome.hpp"
#include "breaker/settings.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace switchgear::sim::fleet {

using micros = std::chrono::microseconds;

/// A call comes to a gateway.
struct call {
  unsigned gateway;
  micros took;  // unless its lease ends first
  breaker::verdict how;
  bool connect;    // a failure to connect
  bool cancelled;  // its client gives up at the end
};

/// A gateway's turn to talk to Redis, and what the network does to it.
struct flush {
  static constexpr unsigned whole = 1000;

  unsigned gateway;
  std::optional<micros> there;  // none: the request is lost
  std::optional<micros> back;   // none: the answers are lost
  std::optional<micros> again;  // the request arrives a second time, so much later
  unsigned cut = whole;         // so many answers come through, then the connection breaks
};

struct order {
  unsigned gateway;
  breaker::scope scope;
  breaker::order what;
  micros hold;
};

/// A gateway's process dies with all its calls; another one takes its place.
struct crash {
  unsigned gateway;
};

/// Redis' clock is set.
struct step {
  micros by;
};

/// A replica of Redis is up to date now.
struct remember {};
/// It takes over: what was written since is lost.
struct failover {};

/// Keys are deleted or evicted.
struct forget {
  breaker::scope scope;
  bool state_only;
};

using action = std::variant<call, flush, order, crash, step, remember, failover, forget>;

struct event {
  micros at;  // since the start
  action what;
};

/// Everything that a run depends on.
struct schedule {
  std::uint64_t seed = 0;
  unsigned gateways = 3;
  breaker::settings tool, server;
  std::vector<event> events;
};

std::string describe(const event& which);

}  // namespace switchgear::sim::fleet
