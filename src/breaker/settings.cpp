#include "breaker/settings.hpp"

#include <initializer_list>

namespace switchgear::breaker {
namespace {

using namespace std::chrono_literals;

struct share_range {
  std::string_view field;
  double value, least, most;
  std::string_view right;
};

struct length_range {
  std::string_view field;
  duration value, least, most;
  bool zero_is_off;
  std::string_view right;
};

struct count_range {
  std::string_view field;
  std::uint32_t value, least, most;
  std::string_view right;
};

// Written so that a NaN is outside.
bool inside(double value, double least, double most) {
  return value >= least && value <= most;
}

}  // namespace

std::optional<bad_setting> check(const settings& s) {
  for (const share_range& f : std::initializer_list<share_range>{
           {"error_rate", s.error_rate, 0.01, 1.0, "1% to 100%"},
           {"outage_rate", s.outage_rate, 0.5, 1.0, "50% to 100%"},
           {"growth", s.growth, 1.0, 3.0, "1 to 3"},
           {"jitter", s.jitter, 0.0, 0.5, "0% to 50%"},
           {"probe_share", s.probe_share, 0.01, 0.25, "1% to 25%"},
       }) {
    if (!inside(f.value, f.least, f.most)) return bad_setting{f.field, std::string(f.right)};
  }
  for (const length_range& f : std::initializer_list<length_range>{
           {"window", s.window, 10s, 300s, false, "10s to 300s"},
           {"p99", s.p99, 1ms, 600s, true, "1ms to 10m, or 0s for no limit"},
           {"cooldown", s.cooldown, 1s, 600s, false, "1s to 10m"},
           {"max_cooldown", s.max_cooldown, s.cooldown, 3600s, false, "at least cooldown, at most 1h"},
           {"probe_timeout", s.probe_timeout, 10ms, 600s, false, "10ms to 10m"},
           {"probe_wait", s.probe_wait, 0ms, 500ms, false, "0ms to 500ms"},
           {"ramp", s.ramp, 0s, 60s, false, "0s to 60s"},
       }) {
    if (f.zero_is_off && f.value == duration::zero()) continue;
    if (f.value < f.least || f.value > f.most) return bad_setting{f.field, std::string(f.right)};
  }
  for (const count_range& f : std::initializer_list<count_range>{
           {"minimum_calls", s.minimum_calls, 5, 10'000, "5 to 10000"},
           {"probes_in_flight", s.probes_in_flight, 1, 50, "1 to 50"},
           {"probes_needed", s.probes_needed, 1, 100, "1 to 100"},
           {"quorum", s.quorum, 1, 5, "1 to 5"},
       }) {
    if (f.value < f.least || f.value > f.most) return bad_setting{f.field, std::string(f.right)};
  }
  if (s.window % 1s != duration::zero()) return bad_setting{"window", "whole seconds"};
  if (s.outage_threshold != 0 && !inside(s.outage_threshold, 5, 50))
    return bad_setting{"outage_threshold", "5 to 50, or 0 for no outage rule"};
  if (s.certainty && !inside(*s.certainty, 0.999, 0.999'999'999))
    return bad_setting{"certainty", "99.9% to 99.9999999%, or none"};
  // Nothing can be over 100 % for certain: such a breaker would never trip by its rate.
  if (s.certainty && s.error_rate > 0.99) return bad_setting{"error_rate", "at most 99% while certainty is not none"};
  if (s.outage_threshold != 0 && s.outage_rate <= s.error_rate)
    return bad_setting{"outage_rate", "more than error_rate"};
  if (s.probe_failures_allowed >= s.probes_needed)
    return bad_setting{"probe_failures_allowed", "less than probes_needed"};
  return std::nullopt;
}

}  // namespace switchgear::breaker
