// The legacy sessions of clients: who has initialized, with which revision, and what it asked for since.
// Source: MCP 2025-11-25 basic/transports "Session Management", server/utilities/logging.
#pragma once

#include "base/time.hpp"
#include "listen/session_id.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace switchgear::listen {

/// One client's session. Thread-safe: its requests come in on any worker.
class session {
 public:
  session(std::string id, session_facts facts, time_point now) : id_(std::move(id)), facts_(facts), used_(now) {}

  const std::string& id() const { return id_; }
  std::string_view revision() const { return facts_.revision; }
  const protocol::client_abilities& abilities() const { return facts_.abilities; }
  std::uint64_t principal() const { return facts_.principal; }

  /// The least level of log messages that the client wants, as a raw JSON string; empty: it named none.
  std::string_view log_level() const { return *level_.load(std::memory_order_relaxed); }
  /// False if `raw` is no level.
  bool set_log_level(std::string_view raw);

  /// Where the client's stream is: a number that its owner understands; 0: nowhere here.
  std::atomic<std::uint64_t>& stream() { return stream_; }

  /// When that stream was opened, in microseconds since 1970.
  std::atomic<std::int64_t>& stream_since() { return stream_since_; }

  /// Notes a use. True if the fleet should hear of it: the last time was `interval` ago.
  bool use(time_point now, duration interval);
  time_point used() const { return used_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::string_view no_level{};

  const std::string id_;
  const session_facts facts_;
  std::atomic<time_point> used_;
  std::atomic<time_point> told_{time_point{}};
  std::atomic<const std::string_view*> level_{&no_level};
  std::atomic<std::uint64_t> stream_{0};
  std::atomic<std::int64_t> stream_since_{0};
};

/// Thread-safe. A session that is not used for `idle` is forgotten; when `most` are there, no more are taken, so that
/// clients which never say goodbye cannot fill the memory.
class sessions {
 public:
  /// `on_end` hears of each session that is no more, whatever ended it.
  sessions(duration idle, std::size_t most, std::function<void(session&)> on_end)
      : idle_(idle), most_(most), on_end_(std::move(on_end)) {}

  /// Null when there are too many. One that is there already stays, and is given.
  std::shared_ptr<session> add(std::string id, const session_facts& facts, time_point now);

  /// A live session; null if there is none. Looking is not using.
  std::shared_ptr<session> find(std::string_view id, time_point now);

  /// False if there was none. The id counts as ended() for a while in any case.
  bool end(std::string_view id);

  /// Whether the session is known to have ended; the last `most_remembered` are.
  bool ended(std::string_view id) const;

  /// Forgets what has been idle too long. Cheap enough for once in a few seconds. A session whose stream is open is not
  /// idle, even if its client sends nothing; those are given.
  std::vector<std::shared_ptr<session>> sweep(time_point now);

  std::size_t count() const;

  static constexpr std::size_t most_remembered = 4096;

 private:
  bool is_idle(session& one, time_point now) const { return one.stream() == 0 && now - one.used() > idle_; }

  struct shard {
    mutable std::mutex mutex;
    std::unordered_map<std::string_view, std::shared_ptr<session>> live;  // keys are the sessions' own ids
  };

  shard& shard_of(std::string_view id) { return shards_[std::hash<std::string_view>{}(id) % shards_.size()]; }
  void remember(std::string_view id);

  duration idle_;
  std::size_t most_;
  std::function<void(session&)> on_end_;
  std::array<shard, 16> shards_;

  mutable std::mutex ended_mutex_;
  std::deque<std::string> ended_order_;
  std::unordered_set<std::string_view> ended_;  // of ended_order_
};

}  // namespace switchgear::listen
