#include "breaker/settings.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace switchgear::breaker {
namespace {

using namespace std::chrono_literals;

template <class Change>
std::string bad_field(Change change) {
  settings values;
  change(values);
  const auto bad = check(values);
  if (bad) {
    EXPECT_FALSE(bad->right.empty());
  }
  return bad ? std::string(bad->field) : "";
}

TEST(settings, are_good_by_default) {
  EXPECT_FALSE(check({}));
}

TEST(settings, name_the_field_that_is_out_of_range) {
  EXPECT_EQ(bad_field([](settings& s) { s.error_rate = 0; }), "error_rate");
  EXPECT_EQ(bad_field([](settings& s) { s.error_rate = std::numeric_limits<double>::quiet_NaN(); }), "error_rate");
  EXPECT_EQ(bad_field([](settings& s) { s.window = 9s; }), "window");
  EXPECT_EQ(bad_field([](settings& s) { s.window = 301s; }), "window");
  EXPECT_EQ(bad_field([](settings& s) { s.window = 10500ms; }), "window");
  EXPECT_EQ(bad_field([](settings& s) { s.minimum_calls = 4; }), "minimum_calls");
  EXPECT_EQ(bad_field([](settings& s) { s.certainty = 1.0; }), "certainty");
  EXPECT_EQ(bad_field([](settings& s) { s.certainty = 0.99; }), "certainty");
  EXPECT_EQ(bad_field([](settings& s) { s.outage_rate = 0.4; }), "outage_rate");
  EXPECT_EQ(bad_field([](settings& s) { s.outage_threshold = 51; }), "outage_threshold");
  EXPECT_EQ(bad_field([](settings& s) { s.p99 = -1ms; }), "p99");
  EXPECT_EQ(bad_field([](settings& s) { s.p99 = 601s; }), "p99");
  EXPECT_EQ(bad_field([](settings& s) { s.cooldown = 999ms; }), "cooldown");
  EXPECT_EQ(bad_field([](settings& s) { s.growth = 0.9; }), "growth");
  EXPECT_EQ(bad_field([](settings& s) { s.max_cooldown = 29s; }), "max_cooldown");
  EXPECT_EQ(bad_field([](settings& s) { s.jitter = 0.6; }), "jitter");
  EXPECT_EQ(bad_field([](settings& s) { s.probe_share = 0.3; }), "probe_share");
  EXPECT_EQ(bad_field([](settings& s) { s.probes_in_flight = 51; }), "probes_in_flight");
  EXPECT_EQ(bad_field([](settings& s) { s.probes_needed = 0; }), "probes_needed");
  EXPECT_EQ(bad_field([](settings& s) { s.probe_timeout = 0s; }), "probe_timeout");
  EXPECT_EQ(bad_field([](settings& s) { s.probe_wait = 501ms; }), "probe_wait");
  EXPECT_EQ(bad_field([](settings& s) { s.ramp = 61s; }), "ramp");
  EXPECT_EQ(bad_field([](settings& s) { s.quorum = 6; }), "quorum");
}

TEST(settings, are_checked_against_each_other) {
  EXPECT_EQ(bad_field([](settings& s) { s.probe_failures_allowed = 10; }), "probe_failures_allowed");
  EXPECT_EQ(bad_field([](settings& s) { s.error_rate = 0.8; }), "outage_rate");
  EXPECT_EQ(bad_field([](settings& s) { s.error_rate = 0.8, s.outage_threshold = 0; }), "");
  EXPECT_EQ(bad_field([](settings& s) { s.error_rate = 1, s.outage_threshold = 0; }), "error_rate");
  EXPECT_EQ(bad_field([](settings& s) { s.error_rate = 1, s.outage_threshold = 0, s.certainty.reset(); }), "");
}

TEST(settings, may_switch_rules_off) {
  EXPECT_EQ(bad_field([](settings& s) { s.p99 = 0ms; }), "");
  EXPECT_EQ(bad_field([](settings& s) { s.outage_threshold = 0; }), "");
  EXPECT_EQ(bad_field([](settings& s) { s.ramp = 0s; }), "");
  EXPECT_EQ(bad_field([](settings& s) { s.probe_wait = 0ms; }), "");
}

}  // namespace
}  // namespace switchgear::breaker
