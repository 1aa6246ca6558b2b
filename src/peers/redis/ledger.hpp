// One scope between this replica and the shared authority: what was said, what was heard, and who decides now.
#pragma once

#include "breaker/authority.hpp"
#include "peers/redis/absence.hpp"
#include "peers/redis/slot.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace switchgear::peers::redis {

/// What came back for one question.
struct receipt {
  enum class kind : std::uint8_t {
    lost,   ///< nothing; it may have been carried out
    text,   ///< an answer
    error,  ///< `text` says why it was not carried out
  };
  receipt::kind kind = receipt::kind::lost;
  std::string text;

  /// The scope's keys belong to somebody else, and will tomorrow. Any other error may be gone with the next exchange.
  bool disowns() const;
};

/// Who asks; the same for all scopes of a replica.
struct sender {
  std::string instance;
  std::uint32_t settings_version = 0;
  bool sharded_news = false;
};

/// Shared: each report is a question with a number of its own, and goes out again under that number until something is
/// heard of it. Alone: an authority of this replica's own decides, from the last state that was known, with this
/// replica's share of the probes and of the least number of calls; what it counts is dropped when Redis is back.
///
/// No I/O, no clock, no dice. For each entry: ask(), then hear() if its node answered anything; else wait() or
/// decide(). Each of the three fills the entry's answer. `now` is the moment of ask() in all of them.
class ledger {
 public:
  /// Alone, R1 and R3 judge no fewer calls.
  static constexpr std::uint32_t least_calls = 5;
  /// How often it is asked who contributed; the answers between say nothing of it.
  static constexpr duration roster_every = std::chrono::seconds(1);

  ledger(const port::board_entry& entry, std::string_view prefix, time_point now);

  const std::string& name() const { return name_; }
  unsigned slot() const { return slot_; }
  /// The authority here decided last.
  bool alone() const { return alone_; }
  /// Nothing is wrong with this scope's own keys, or it is time to look again.
  bool may_ask(time_point now) const { return trouble_.may_try(now); }

  /// Appends what Redis may not have heard, then what is new, and says how many that was. `random` in [0, 1).
  std::size_t ask(const port::board_entry& entry, const sender& from, time_point now, double random,
                  std::vector<routed>& into);

  struct hearing {
    bool answered = false;  ///< the shared authority did; the rest but `trouble` means something only then
    std::uint32_t replicas = 0;
    std::uint32_t granted = 0, returned = 0, expired = 0;  ///< leases
    std::optional<duration> healed;                        ///< it was of no use for so long
    std::string trouble;                                   ///< from now on it is of no use, for this reason
  };
  /// What came back for the questions of the last ask(), in their order. `replicas`: how many there are, should this
  /// one have to go on alone.
  hearing hear(port::board_entry& entry, std::span<const receipt> said, std::uint32_t replicas, time_point now,
               double random);

  /// Nothing was heard, and nobody is given up yet: the report is kept to be said again, and things stay as they were.
  void wait(port::board_entry& entry, time_point now);
  /// This replica decides for itself.
  void decide(port::board_entry& entry, std::uint32_t replicas, time_point now, double random);

 private:
  struct unheard {
    std::uint64_t sequence = 0;
    breaker::report said;
    std::optional<port::board_entry::command> ordered;
    bool put_settings = false;
  };

  struct acknowledged {
    std::vector<breaker::transition> news;
    std::optional<port::board_entry::command> ordered;
  };

  void follow_settings(const port::board_entry& entry);
  question question_of(const port::board_entry& entry, const sender& from, time_point now, double random) const;
  std::optional<answer> understood(const receipt& said) const;
  acknowledged acknowledge(std::span<const receipt> said, hearing& into);
  void take(port::board_entry& entry, answer heard, const std::vector<breaker::transition>& earlier, time_point now);
  void stand_by(const breaker::report& said, time_point now);
  void go_alone(port::board_entry& entry, std::uint32_t replicas, time_point now);
  void pass_on(breaker::reply& told, time_point now);
  void keep_away(breaker::reply& told, time_point now);
  breaker::view view_at(time_point now) const;

  std::string name_;
  address at_;
  unsigned slot_;

  breaker::settings settings_;  // what an entry points to lives no longer than its exchange
  std::uint64_t revision_ = 0;
  std::uint64_t told_revision_ = 0;  // in Redis

  std::uint64_t sequence_ = 0;
  std::deque<unheard> unheard_;
  std::uint64_t seen_ = 0;  // generation that Redis said last
  bool known_ = false;      // Redis has spoken of it
  breaker::reply heard_;    // last, from whoever decided; without leases, news, or keep_away()
  time_point heard_at_{};
  time_point roster_at_{};   // next
  time_point away_until_{};  // the rules have tripped for this replica only

  absence trouble_;  // with the keys of this scope
  breaker::authority local_;
  bool alone_ = false;
  std::uint64_t local_revision_ = 0;
  std::uint32_t local_replicas_ = 0;
};

}  // namespace switchgear::peers::redis
