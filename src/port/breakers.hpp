// Seam: the gateway's breakers, for whoever makes calls and whoever shows or commands them.
#pragma once

#include "async/worker.hpp"
#include "base/time.hpp"
#include "breaker/gate.hpp"
#include "breaker/report.hpp"
#include "breaker/settings.hpp"
#include "port/board.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::port {

/// One breaker as it stands, for people.
struct circuit {
  std::string name;  ///< exported tool name, or "server:" and the upstream's alias
  breaker::scope scope = breaker::scope::tool;
  breaker::state state = breaker::state::closed;
  breaker::mode mode = breaker::mode::enforce;
  bool forced = false;          ///< open by the operator's word
  unsigned ramp_percent = 100;  ///< closed: share of the calls that is admitted
  std::uint64_t generation = 0;
  time_point since{};        ///< in this state since then
  duration retry_after{};    ///< open: what is left of the stay
  breaker::figures figures;  ///< counts in the window, counts that would trip, probes, last cause
  double error_rate = 0;     ///< share of failures in the window
  double slow_rate = 0;      ///< share of slow calls in the window
  duration p99{};            ///< over about the last window, within 10 %; zero = no calls
  breaker::settings settings;
  std::uint64_t refused = 0;    ///< calls refused since the start
  std::uint64_t stale = 0;      ///< results that came too late for their generation, since the start
  std::string note;             ///< the operator's last word on it: who and why
  bool other_settings = false;  ///< a newer configuration's thresholds are in force, not `settings`
  std::vector<breaker::contribution> contributions;  ///< a shared board: who counted what; a few seconds old
};

/// An operator's order to one breaker.
struct command {
  std::string name;  ///< as circuit::name
  breaker::order order = breaker::order::automatic;
  duration hold{};  ///< for how long; zero = until told otherwise (close: once)
  std::string reason;
  std::string actor;
};

class breakers {
 public:
  virtual ~breakers() = default;

  /// The gate of a tool (by exported name) or an upstream (by alias); the same object for the same name, alive as
  /// long as this. Other settings than last time apply in place, without losing the state. Any thread but data threads.
  virtual breaker::gate& tool(std::string_view exported_name, const breaker::settings& values) = 0;
  virtual breaker::gate& server(std::string_view alias, const breaker::settings& values) = 0;

  /// Something that should be heard of at once (permit::settle returned true). Any thread, cheap when repeated.
  virtual void kick(breaker::gate& gate) noexcept = 0;

  /// Waits until a probe's place may have come free for `gate` (refusal::gate), until `until` or the refusal's
  /// probe_wait at the latest; at once when another call waits already. Then acquire again. On `on`'s own thread.
  virtual boost::asio::awaitable<void> probe(async::worker& on, breaker::gate& gate, time_point until) = 0;

  /// All breakers, ordered by name. Any thread; at most a second old.
  virtual std::vector<circuit> snapshot() const = 0;

  /// What the board behind them has done. Any thread; at most a second old.
  virtual board_figures board() const { return {}; }

  /// Carries out an operator's command; in force when it returns true. False: no breaker has that name, or the board
  /// did not take it in time. Control thread.
  virtual boost::asio::awaitable<bool> admin(command what) = 0;
};

}  // namespace switchgear::port
