// What is wrong with a configuration, and where.
#pragma once

#include <string>
#include <string_view>

namespace switchgear::config {

/// One finding. Lines and columns count from 1; 0 means that no place is known.
struct problem {
  int line = 0;
  int column = 0;
  std::string key;   ///< path of the key, as in "tools.search__query.deadline"; empty: the file as a whole
  std::string what;  ///< what is wrong; what would be right
};

/// "file:line:column: key: what", without the parts that are not known. Always one line.
std::string to_string(const problem& found, std::string_view file);

}  // namespace switchgear::config
