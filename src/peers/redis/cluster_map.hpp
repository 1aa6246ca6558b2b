// A cluster as its nodes describe it: which of them has a slot, and what an answer asks of whoever got it.
#pragma once

#include "peers/redis/response.hpp"
#include "port/shared_state.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace switchgear::peers::redis {

inline constexpr unsigned slot_count = 16384;

struct slot_range {
  unsigned first = 0, last = 0;  ///< both within
  port::redis_settings::host primary;
};

/// The answer to CLUSTER SLOTS; nothing when it is none. `from`: the node that said it, which leaves its own name out
/// where it does not know it.
std::optional<std::vector<slot_range>> read_slots(const response& said, const port::redis_settings::host& from);

/// What to do about an answer.
enum class remedy : std::uint8_t {
  none,       ///< it is an answer, or an error that nothing but time mends: BUSY, OOM, TRYAGAIN, LOADING...
  furnish,    ///< the node lacks our library
  follow,     ///< MOVED: another node has the slot, for good
  ask_other,  ///< ASK: another node has this key, while the slot moves
  redraw,     ///< the cluster is changing: the map is worth a look
  reconnect,  ///< the node does not serve us any more: it follows another, or does not know us
};
remedy remedy_of(const response& said);

/// The address in a MOVED or ASK, its name empty when it is that of the node that said it.
struct redirection {
  unsigned slot = 0;
  port::redis_settings::host to;
};
std::optional<redirection> read_redirection(std::string_view error);

}  // namespace switchgear::peers::redis
