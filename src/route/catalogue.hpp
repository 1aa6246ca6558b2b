// All tools of all upstreams under their exported names: immutable, so that threads share one without locks.
#pragma once

#include "protocol/tools_list.hpp"
#include "route/names.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace switchgear::route {

/// What one upstream listed, now or before it went down. `index` is the caller's; it comes back in the entries.
struct upstream_tools {
  std::string_view alias;
  std::uint32_t index = 0;
  std::span<const protocol::tool> tools;
};

struct entry {
  std::string name;  ///< exported
  std::uint32_t upstream = 0;
  std::string alias;          ///< of the upstream
  std::string original;       ///< what the upstream calls it
  std::string definition;     ///< as listed, with the exported name
  std::string output_schema;  ///< JSON; empty if the tool has none
  protocol::tool_hints hints;
  bool task_required = false;
};

/// Movable, not copyable: the lookup table points into the entries.
class catalogue {
 public:
  catalogue() = default;
  /// The result is the same whatever the order of `upstreams` and of the tools in them.
  catalogue(std::span<const upstream_tools> upstreams, naming how);

  catalogue(catalogue&&) noexcept = default;
  catalogue& operator=(catalogue&&) noexcept = default;
  catalogue(const catalogue&) = delete;
  catalogue& operator=(const catalogue&) = delete;

  /// Null if there is no such tool. Lives as long as the catalogue. One hash of the name.
  const entry* find(std::string_view exported) const;

  /// Sorted by exported name.
  const std::vector<entry>& entries() const { return entries_; }
  std::size_t size() const { return entries_.size(); }

  /// A JSON array of all definitions, in the same order, ready to be sent.
  std::string_view definitions() const { return definitions_; }

  /// Tools that had to be left out, one line each: two upstreams' tools under one name, or one listed twice.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  std::vector<entry> entries_;
  std::unordered_map<std::string_view, std::uint32_t> by_name_;
  std::string definitions_ = "[]";
  std::vector<std::string> problems_;
};

}  // namespace switchgear::route
