// What the library's function is told and what it answers, as bytes. No connection is needed to use this.
#pragma once

#include "port/board.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::peers::redis {

/// Name of the library and, with this before them, of its functions. Another version has another name, so that old and
/// new gateways may share a store while they are exchanged.
inline constexpr std::string_view library_name = "switchgear_v1";
/// Its source, as FUNCTION LOAD takes it.
extern const std::string_view library_source;

/// What this replica knows of a scope's shared truth, for a store that may have lost it.
struct standing {
  std::uint64_t generation = 0;
  breaker::state state = breaker::state::closed;
  duration remaining{};             ///< open: what is left of the stay
  bool forced = false;              ///< open by the operator's word
  bool observed = false;            ///< observe mode by the operator's word
  duration hold = duration::max();  ///< what is left of that word; max = no end
};

/// Where a scope lives in the store. All keys of one server have one hash tag, and so one slot of a cluster.
struct address {
  std::string state, window, instances, probes;  ///< keys
  std::string channel;                           ///< of its server

  /// `prefix` separates fleets that share a store; `name` is board_entry::name.
  address(std::string_view prefix, std::string_view name);
};

/// The server's channel says "<generation> <state> <scope's name>". The name, or nothing for other text.
std::optional<std::string_view> scope_of_message(std::string_view message);

/// One FCALL, word by word.
using command = std::vector<std::string>;

struct question {
  const port::board_entry& entry;
  const address& at;
  std::string_view instance;           ///< unique to this process
  std::uint64_t sequence = 1;          ///< rises with each question of a scope; the same again for a repeat
  bool put_settings = false;           ///< they have changed, or are told for the first time
  std::uint32_t settings_version = 0;  ///< the higher one holds; among equals, who told last
  bool roster = false;                 ///< tell who contributed
  bool sharded_news = false;           ///< a cluster: transitions go to the channel's own node only
  standing known;
  double random = 0;  ///< in [0, 1)
};
command words(const question& asked);

struct answer {
  breaker::reply reply;
  bool alone = false;          ///< a rule tripped for this replica only: no other one sees what it sees
  std::uint32_t replicas = 0;  ///< heard from within ten seconds
  std::uint32_t expired = 0;   ///< leases taken back just now
};
/// Nothing for bytes that are no answer. `settings` are for the limits among the figures.
std::optional<answer> read(std::string_view bytes, const breaker::settings& settings);

}  // namespace switchgear::peers::redis
