// What an upstream tells the rest of the gateway about itself, on the control thread.
#pragma once

#include "port/upstream.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace switchgear::upstream {

/// The tools of one upstream as it listed them: each page's `result` object, whole, in order.
struct listed_tools {
  std::vector<std::string> pages;
};

/// Called on the control worker only; must not block. Outlives every upstream.
class observer {
 public:
  /// A complete list arrived (all pages). `upstream` is the index it was made with.
  virtual void tools_listed(unsigned upstream, listed_tools tools) = 0;
  /// The state or its reason changed; also after the first attempt, successful or not.
  virtual void state_changed(unsigned upstream, const port::upstream_status& status) = 0;
  /// A line that a child wrote on stderr, or a protocol oddity worth one log line. Rate-limited by the upstream.
  virtual void remark(unsigned upstream, std::string_view line) = 0;

 protected:
  ~observer() = default;
};

}  // namespace switchgear::upstream
