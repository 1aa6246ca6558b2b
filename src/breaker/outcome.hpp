// What a call meant for the health of a tool or of its server. Source: the table of outcomes in docs/architecture.md.
#pragma once

#include <cstdint>

namespace switchgear::breaker {

enum class verdict : std::uint8_t {
  success,  ///< the upstream did its part
  failure,  ///< it did not
  neutral,  ///< says nothing about its health; counted nowhere, and a probe's place comes back
};

struct outcome {
  breaker::verdict verdict = breaker::verdict::neutral;
  bool slow = false;     ///< took longer than the p99 limit; with neutral: counted as slow all the same
  bool connect = false;  ///< a failure to connect, start or stay connected (rule R4 of the server scope)
};

}  // namespace switchgear::breaker
