// All scopes of a replica on a shared store, and the nodes that keep them: what to send, what came back, who is alone.
#pragma once

#include "peers/redis/absence.hpp"
#include "peers/redis/complaints.hpp"
#include "peers/redis/ledger.hpp"
#include "port/board.hpp"
#include "port/shared_state.hpp"

#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::peers::redis {

/// The shared board without its I/O: an exchange is ask(), the questions' way to the store and back, and hear(). Each
/// node is given up and found again by itself, so that a cluster's lost shard takes none but its own scopes alone.
/// One thread; one exchange at a time. Chance comes from `seed` alone.
class books {
 public:
  /// "host:port" of the node that has a slot now; empty when nobody knows. Used in a cluster only: other stores are one
  /// node, wherever it is at the moment.
  using place = std::function<std::string_view(unsigned slot)>;

  books(const port::redis_settings& settings, std::string instance, std::uint64_t seed, place place_of);

  /// The questions for these entries. Scopes that are alone and not to be tried yet have none.
  std::vector<routed> ask(std::vector<port::board_entry>& entries, time_point now);

  /// The same entries, and what came back for those questions, one each. `trouble` is the store's word for why nothing
  /// did. Every entry has its answer then. An order of the operator's that is in force stays in its entry, another one
  /// leaves it. `now`: it took so long.
  void hear(std::vector<port::board_entry>& entries, std::span<const receipt> said, std::string_view trouble,
            time_point now);

  /// Something for the log.
  struct line {
    bool shared;
    std::string text;
  };
  std::vector<line> take_lines();

  /// A connection to some node is there again: whoever is given up may be tried at once.
  void look_again();

  bool knows(std::string_view scope) const { return scopes_.contains(scope); }
  /// This replica decides it for itself at the moment.
  bool alone(std::string_view scope) const;
  port::board_figures figures() const;

 private:
  struct node {
    std::string name;  // empty: the store as a whole
    absence away;
    std::size_t scopes = 0;
    bool asked = false, answered = false;  // in this exchange
    std::string error;
  };
  struct scope {
    ledger its;
    node* at = nullptr;
  };
  struct turn {
    scope* of;
    std::size_t questions;  // 0: not asked
  };

  scope& find_or_make(const port::board_entry& entry, time_point now);
  void settle_place(scope& of);
  void leave(node& from);
  void judge_nodes(std::span<const receipt> said, std::string_view trouble, time_point now);
  void conclude(const turn& one, port::board_entry& entry, std::span<const receipt> said);
  double chance() { return std::uniform_real_distribution<double>()(random_); }
  static std::string about(const node& which, std::string text);

  std::string prefix_;
  sender self_;
  std::mt19937_64 random_;
  place place_of_;
  std::map<std::string, node, std::less<>> nodes_;
  std::map<std::string, scope, std::less<>> scopes_;
  std::vector<turn> turns_;  // of the exchange under way
  time_point asked_at_{};
  std::uint32_t replicas_ = 1;
  complaints complaints_;
  std::vector<line> lines_;
  port::board_figures figures_;
};

}  // namespace switchgear::peers::redis
