// The documentation of the keys, made from their tables.
#pragma once

#include <string>

namespace switchgear::config {

/// One Markdown table for each mapping: key, value, default, range, meaning.
std::string reference_tables();

}  // namespace switchgear::config
