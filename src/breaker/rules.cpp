#include "breaker/rules.hpp"

namespace switchgear::breaker {
namespace {

// The window is judged at every report, so chance gets many tries at it. Over one length of the window they are worth
// about eight independent ones (test/sim: p99 exactly on the limit). Sharing the doubt among them makes `certainty`
// mean what it says for a whole window.
constexpr double tries = 8;

}  // namespace

std::optional<double> certainty_of_one_look(const settings& values) {
  return values.certainty ? std::optional(1 - (1 - *values.certainty) / tries) : std::nullopt;
}

share_test error_test(const settings& values) {
  return {values.error_rate, certainty_of_one_look(values), values.minimum_calls, share_test::plain::reached};
}

share_test slow_test(const settings& values) {
  return {p99_share, certainty_of_one_look(values), values.minimum_calls, share_test::plain::passed};
}

sequential outage_rule(const settings& values) {
  return {values.error_rate, values.outage_rate, values.outage_threshold};
}

}  // namespace switchgear::breaker
