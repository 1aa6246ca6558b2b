#include "config/breaker_keys.hpp"

#include "config/kinds.hpp"
#include "config/values.hpp"

namespace switchgear::config {

const keys<breaker::settings>& breaker_keys() {
  using namespace std::chrono_literals;
  using breaker::is_error;
  using breaker::mode;
  using target = breaker::settings;
  static const keys<target> table{
      value_key<target>(
          "mode", one_of<mode>({{"enforce", mode::enforce}, {"observe", mode::observe}, {"disabled", mode::disabled}}),
          [](auto& to) -> auto& { return to.mode; },
          "`enforce` refuses calls when open; `observe` counts and reports when it would have tripped, but "
          "admits everything; `disabled` counts nothing."),
      value_key<target>(
          "error_rate", a_share(0.01, 1), [](auto& to) -> auto& { return to.error_rate; },
          "Share of failed calls above which the breaker trips."),
      value_key<target>(
          "p99", a_duration(1ms, 10min, zero::off), [](auto& to) -> auto& { return to.p99; },
          "At most 1 % of calls may take longer. `0`: calls are never slow."),
      value_key<target>(
          "window", a_duration(10s, 300s), [](auto& to) -> auto& { return to.window; },
          "How far back calls count; whole seconds."),
      value_key<target>(
          "minimum_calls", a_count(5, 10'000), [](auto& to) -> auto& { return to.minimum_calls; },
          "With fewer calls in the window neither `error_rate` nor `p99` is judged."),
      value_key<target>(
          "certainty", a_share_or_none(0.999, 0.999999999), [](auto& to) -> auto& { return to.certainty; },
          "How sure the breaker must be that the true rate is over its limit before it trips. `none`: the "
          "measured rate is compared with the limit as it stands, which trips on bad luck when calls are few."),
      value_key<target>(
          "outage_rate", a_share(0.5, 1), [](auto& to) -> auto& { return to.outage_rate; },
          "Error rate of the outage that is to be noticed within seconds, whatever stood in the window before. "
          "Must be above `error_rate`."),
      value_key<target>(
          "outage_threshold", a_decimal(5, 50, zero::off), [](auto& to) -> auto& { return to.outage_threshold; },
          "Evidence for such an outage at which the breaker trips; the default is reached by 9 failures in a "
          "row. `0`: outages are left to `error_rate`."),
      value_key<target>(
          "cooldown", a_duration(1s, 10min), [](auto& to) -> auto& { return to.cooldown; },
          "How long the breaker stays open the first time, before probes are let through."),
      value_key<target>(
          "growth", a_decimal(1, 3), [](auto& to) -> auto& { return to.growth; },
          "Each further cooldown is this many times as long. `1`: all are equal."),
      value_key<target>(
          "max_cooldown", a_duration(1s, 1h), [](auto& to) -> auto& { return to.max_cooldown; },
          "No cooldown is longer. Must not be below `cooldown`."),
      value_key<target>(
          "jitter", a_share(0, 0.5), [](auto& to) -> auto& { return to.jitter; },
          "A cooldown varies by up to this share either way, so that breakers do not probe in step."),
      value_key<target>(
          "probe_share", a_share(0.01, 0.25), [](auto& to) -> auto& { return to.probe_share; },
          "Share of the offered calls that may go through as probes while half open; one a second at least."),
      value_key<target>(
          "probes_in_flight", a_count(1, 50), [](auto& to) -> auto& { return to.probes_in_flight; },
          "Most probes at the same time."),
      value_key<target>(
          "probes_needed", a_count(1, 100), [](auto& to) -> auto& { return to.probes_needed; },
          "Probe results that make a verdict."),
      value_key<target>(
          "probe_failures_allowed", a_count(0, 99), [](auto& to) -> auto& { return to.probe_failures_allowed; },
          "Failed probes, and slow probes, with which the breaker still closes. Must be below `probes_needed`."),
      value_key<target>(
          "probe_timeout", a_duration(10ms, 10min), [](auto& to) -> auto& { return to.probe_timeout; },
          "A probe that has not ended by then has failed."),
      value_key<target>(
          "probe_wait", a_duration(0ms, 500ms), [](auto& to) -> auto& { return to.probe_wait; },
          "How long one call may wait to become a probe, so that a rarely used tool gets one at all. `0`: it "
          "does not wait."),
      value_key<target>(
          "ramp", a_duration(0s, 60s), [](auto& to) -> auto& { return to.ramp; },
          "After closing, 25, 50, 75 and 100 % of calls pass over this time. `0`: all at once."),
      value_key<target>(
          "is_error",
          one_of<is_error>(
              {{"neutral", is_error::neutral}, {"failure", is_error::failure}, {"success", is_error::success}}),
          [](auto& to) -> auto& { return to.is_error; },
          "What a result with `isError` says about the tool's health. It reaches the client unchanged in any case."),
      value_key<target>(
          "quorum", a_count(1, 5), [](auto& to) -> auto& { return to.quorum; },
          "With a shared `state` and three replicas or more at work: how many must see a fault before it opens for "
          "all. "
          "A replica that is alone with it opens for itself."),
  };
  return table;
}

namespace {

// What may be meant, and is seldom wise. Only where the file says so.
void doubt_breaker(const field& at, const breaker::settings& made) {
  const auto sets = [&](std::string_view name) { return at.at().find(name) != nullptr; };
  constexpr double busy = 5;  // calls a second that few tools see from agents
  const double needed = made.minimum_calls / std::chrono::duration<double>(made.window).count();
  if (needed > busy && (sets("minimum_calls") || sets("window"))) {
    at.nearest(sets("minimum_calls") ? "minimum_calls" : "window")
        .warn(std::to_string(made.minimum_calls) + " calls in " + format_duration(made.window) +
              " are more than most tools get from agents; one that gets fewer is judged by its outages alone");
  }
  if (sets("cooldown") && made.cooldown < made.window / 20) {
    at.nearest("cooldown")
        .warn("is so short beside the window of " + format_duration(made.window) +
              " that a tool which is down is tried almost without a break");
  }
}

}  // namespace

void check_breaker(const field& at, const breaker::settings& made) {
  const auto bad = breaker::check(made);
  if (!bad) return doubt_breaker(at, made);
  const field place = at.nearest(bad->field);
  const bool is_there = &place.at() != &at.at();
  const std::string which = is_there ? "" : '`' + std::string(bad->field) + "`, which is not set here, ";
  place.fail(which + "does not go with the other values; it must be " + bad->right);
}

}  // namespace switchgear::config
