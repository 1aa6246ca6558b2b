#include "config/read.hpp"

#include "config/field.hpp"
#include "config/gateway_keys.hpp"
#include "config/mcp_json.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <tuple>

namespace switchgear::config {
namespace {

void in_file_order(std::vector<problem>& all) {
  std::sort(all.begin(), all.end(), [](const problem& left, const problem& right) {
    return std::tie(left.line, left.column, left.key, left.what) <
           std::tie(right.line, right.column, right.key, right.what);
  });
}

void fill(const field& root, gateway& made) {
  switch (root.at().what) {
    case node::kind::null:
      return check_gateway(root, made);
    case node::kind::scalar:
    case node::kind::list:
      return root.fail("a mapping of keys is needed, as in `listen: 127.0.0.1:8080`");
    case node::kind::map:
      if (is_mcp_json(root.at())) {
        read_mcp_json(root, made);
      } else {
        for (const auto& apply : read_section(root, gateway_keys())) apply(made);
      }
      made.admin.named = root.at().find("admin") != nullptr;
      check_gateway(root, made);
  }
}

}  // namespace

std::optional<std::string> process_environment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

reading read_text(std::string_view text, std::string file, const environment& variables) {
  reading made;
  made.file = std::move(file);
  node document;
  problem broken;
  if (!parse(text, document, broken)) {
    made.errors.push_back(std::move(broken));
    return made;
  }
  findings found{variables, {}, {}, {}};
  gateway configured;
  fill(field(document, {}, found), configured);
  made.errors = std::move(found.errors);
  made.warnings = std::move(found.warnings);
  made.substituted = std::move(found.substituted);
  in_file_order(made.errors);
  in_file_order(made.warnings);
  if (made.errors.empty()) made.gateway = std::move(configured);
  return made;
}

reading read_file(const std::string& path, const environment& variables) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(most_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  // Opening a folder succeeds, reading it does not.
  if (!file.is_open() || file.bad()) {
    reading made;
    made.file = path;
    made.errors.push_back(
        {0, 0, {}, "cannot be read: " + std::string(errno != 0 ? std::strerror(errno) : "read error")});
    return made;
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  return read_text(text, path, variables);
}

}  // namespace switchgear::config
