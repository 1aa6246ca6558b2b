// Every knob of a breaker that means something on one replica. The defaults are the paper's where it names one.
#pragma once

#include "base/time.hpp"
#include "breaker/words.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace switchgear::breaker {

/// What a result with isError says about the tool's health. It reaches the client untouched in any case.
enum class is_error : std::uint8_t {
  neutral,  ///< nothing: the tool is talking to the model
  failure,  ///< it failed
  success,  ///< it works
};

/// A plain value. Shares are 0..1, times are lengths. Ranges are what check() accepts.
struct settings {
  breaker::mode mode = breaker::mode::enforce;

  // R1: error rate
  double error_rate = 0.15;                    ///< limit of the share of failures; 1 %..100 %
  duration window = std::chrono::seconds(60);  ///< how far back R1 and R3 look; whole seconds, 10 s..300 s
  std::uint32_t minimum_calls = 20;            ///< R1 and R3 judge no fewer calls; 5..10,000
  /// How sure R1 and R3 must be, over a whole window, that the true share is over the limit: 99.9 %..99.9999999 %.
  /// None: the share itself is compared with the limit, which trips on bad luck when calls are few.
  std::optional<double> certainty = 0.9999;

  // R2: outage
  double outage_rate = 0.80;  ///< the error rate that R2 looks for; 50 %..100 %, above error_rate
  double outage_threshold =
      14.3;  ///< weight of evidence at which R2 trips, 9 failures in a row by default; 5..50, 0 = off

  // R3: p99
  duration p99 = std::chrono::milliseconds(1500);  ///< at most 1 % of calls may take longer; 1 ms..10 min, 0 = off

  // open
  duration cooldown = std::chrono::seconds(30);       ///< first stay in open; 1 s..10 min
  double growth = 1.5;                                ///< each further stay is this much longer; 1..3
  duration max_cooldown = std::chrono::seconds(300);  ///< and no longer than this; cooldown..1 h
  double jitter = 0.10;                               ///< a stay varies by this share either way; 0..50 %

  // half_open
  double probe_share = 0.10;           ///< probes a second, as a share of the calls offered; 1 %..25 %, one at least
  std::uint32_t probes_in_flight = 3;  ///< most probes at once; 1..50
  std::uint32_t probes_needed = 10;    ///< results that make a verdict; 1..100
  std::uint32_t probe_failures_allowed = 2;  ///< failures, and slow results, that a good verdict bears; < probes_needed
  duration probe_timeout = std::chrono::seconds(10);    ///< a probe not settled by then has failed; 10 ms..10 min
  duration probe_wait = std::chrono::milliseconds(50);  ///< how long one call may wait for a probe's place; 0..500 ms

  // closed again
  duration ramp = std::chrono::seconds(10);  ///< 25, 50, 75, 100 % of calls over this time; 0..60 s, 0 = all at once

  breaker::is_error is_error = breaker::is_error::neutral;

  // shared by replicas
  std::uint32_t quorum = 2;  ///< replicas that must see the fault when three or more are at work; 1..5

  bool operator==(const settings&) const = default;
};

/// A field that cannot be used.
struct bad_setting {
  std::string_view field;  ///< its name here, which is also its key in the configuration
  std::string right;       ///< what would be right
};

/// The first bad field, or none.
std::optional<bad_setting> check(const settings& values);

}  // namespace switchgear::breaker
