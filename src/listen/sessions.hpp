// The legacy sessions of clients: who has initialized, and with which revision.
// Source: MCP 2025-11-25 basic/transports "Session Management".
#pragma once

#include "base/time.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace switchgear::listen {

/// Thread-safe. A session that is not used for `idle` is forgotten; when `most` are there, create() refuses, so that
/// clients which never say goodbye cannot fill the memory.
class sessions {
 public:
  sessions(duration idle, std::size_t most) : idle_(idle), most_(most) {}

  /// A new unguessable id (32 hex digits) for a client that negotiated `version` (one of
  /// protocol::supported_versions), or nothing when there are too many.
  std::optional<std::string> create(std::string_view version, time_point now);

  /// The revision of a live session, which counts as used now; nothing if there is none.
  std::optional<std::string_view> find(std::string_view id, time_point now);

  /// False if there was none.
  bool end(std::string_view id);

  /// Forgets what has been idle too long. Cheap enough for once in a few seconds.
  void sweep(time_point now);

  std::size_t count() const;

 private:
  struct session {
    std::string_view version;  // a constant of protocol/version.hpp
    time_point used;
  };
  struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  struct shard {
    mutable std::mutex mutex;
    std::unordered_map<std::string, session, text_hash, std::equal_to<>> live;
  };

  shard& shard_of(std::string_view id) { return shards_[text_hash{}(id) % shards_.size()]; }

  duration idle_;
  std::size_t most_;
  std::array<shard, 16> shards_;
};

}  // namespace switchgear::listen
