// What the gateway offers its clients: all upstreams' offers as one, ready to be sent.
#pragma once

#include "protocol/version.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace switchgear::port {

/// The four things that are listed.
enum class listed : std::uint8_t { tools, prompts, resources, templates };
inline constexpr unsigned listed_count = 4;

/// Immutable once made; shared by all workers.
struct offer {
  /// The `result` of each list method, complete, on one page.
  std::array<std::string, listed_count> legacy, modern;
  /// The server's `capabilities` object as initialize and server/discover say it.
  std::string legacy_capabilities, modern_capabilities;
  std::string instructions;  ///< plain text; may be empty
  /// Which lists are offered at all; one that is not is an unknown method.
  std::array<bool, listed_count> has{true, false, false, false};
  bool completes = false;   ///< some upstream answers completion/complete
  bool subscribes = false;  ///< some upstream tells of changed resources
  bool logs = false;        ///< some upstream sends log messages

  const std::string& list(protocol::era era, listed what) const {
    return (era == protocol::era::modern ? modern : legacy)[static_cast<unsigned>(what)];
  }
};

}  // namespace switchgear::port
