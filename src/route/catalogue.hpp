// All tools of all upstreams under their exported names: immutable, so that threads share one without locks.
#pragma once

#include "protocol/tools_list.hpp"
#include "route/names.hpp"
#include "route/table.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::route {

/// What one upstream listed, now or before it went down. `index` is the caller's; it comes back in the entries.
struct upstream_tools {
  std::string_view alias;
  std::uint32_t index = 0;
  std::span<const protocol::tool> tools;
};

struct entry : item {
  std::string output_schema;  ///< JSON; empty if the tool has none
  protocol::tool_hints hints;
  bool task_required = false;
  std::vector<protocol::mirrored_argument> mirrored;  ///< arguments that a modern server wants in headers
};

class catalogue {
 public:
  catalogue() = default;
  /// The result is the same whatever the order of `upstreams` and of the tools in them.
  catalogue(std::span<const upstream_tools> upstreams, naming how);

  /// Null if there is no such tool. Lives as long as the catalogue. One hash of the name.
  const entry* find(std::string_view exported) const { return tools_.find(exported); }

  /// Sorted by exported name.
  const std::vector<entry>& entries() const { return tools_.items(); }
  std::size_t size() const { return entries().size(); }

  /// A JSON array of all definitions, in the same order, ready to be sent.
  std::string_view definitions() const { return tools_.definitions(); }

  /// Tools that had to be left out, one line each: two upstreams' tools under one name, or one listed twice.
  const std::vector<std::string>& problems() const { return tools_.problems(); }

 private:
  table<entry> tools_;
};

}  // namespace switchgear::route
