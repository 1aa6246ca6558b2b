// What a configuration comes to, as text for people.
#pragma once

#include "config/read.hpp"

#include <string>

namespace switchgear::config {

/// Every value that is in force, defaults included, as YAML that reads back to the same configuration but for what is
/// masked: values of headers and of a child's environment, queries of URLs; where a text came from an environment
/// variable, `${NAME}` stands again. `made` must hold a gateway.
std::string effective_yaml(const reading& made);

}  // namespace switchgear::config
