// One GET from the admin API of a running gateway, for the commands that ask it something.
#pragma once

#include "base/time.hpp"
#include "config/values.hpp"

#include <string>
#include <variant>

namespace switchgear::app {

struct admin_answer {
  unsigned status = 0;
  std::string body;
};

/// Why there is no answer: one line for people.
struct admin_fault {
  std::string why;
};

/// Blocks for at most `limit`, connecting included. Answers of more than 16 MiB are faults. Never throws for anything
/// that the other side does.
std::variant<admin_answer, admin_fault> admin_get(const config::endpoint& at, const std::string& path, duration limit);

}  // namespace switchgear::app
