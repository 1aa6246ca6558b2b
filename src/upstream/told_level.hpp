// Which log messages a legacy session was asked for: clients come with levels of their own, sessions have one each.
// Source: MCP 2025-11-25 server/utilities/logging.
#pragma once

#include "protocol/severity.hpp"

#include <atomic>
#include <string_view>

namespace switchgear::upstream {

/// Of one session, which begins without a level. Thread-safe.
class told_level {
 public:
  /// The level to tell the server before a request of a client that wants `raw_level` (a raw JSON string; may be
  /// empty), so that it gets its messages; empty: none. A session that several clients share only becomes more
  /// talkative: each client is spared by its own level later. Counts as told at once.
  std::string_view next(std::string_view raw_level, bool shared) {
    const auto wanted = protocol::severity_of(raw_level);
    if (!wanted) return {};
    unsigned told = told_.load(std::memory_order_relaxed);
    while (shared ? *wanted < told : *wanted != told) {
      if (told_.compare_exchange_weak(told, *wanted, std::memory_order_relaxed))
        return protocol::severity_name(*wanted);
    }
    return {};
  }

 private:
  std::atomic<unsigned> told_{static_cast<unsigned>(protocol::severities.size())};
};

}  // namespace switchgear::upstream
