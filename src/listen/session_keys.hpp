// The keys that sessions' ids are sealed with: one of our own until the fleet's is known.
#pragma once

#include "listen/session_id.hpp"

#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace switchgear::listen {

/// Thread-safe. Ids are sealed with the newest key, and read with that one or the one before: a fleet's key changes
/// under sessions that live on.
class session_keys {
 public:
  /// `configured`: the operator's word, of any length; empty: a random key until the fleet names one.
  explicit session_keys(std::string_view configured);

  /// Takes a key of the fleet; the operator's stays above it.
  void use(std::string_view key);

  /// Whether other replicas may have sealed ids that this one can read.
  bool shared() const;

  std::optional<std::string> seal(const session_facts& facts) const;
  std::optional<session_facts> open(std::string_view id) const;

 private:
  static constexpr std::size_t kept = 2;

  const bool configured_;
  mutable std::mutex mutex_;
  bool from_fleet_ = false;
  std::deque<std::string> keys_;  // newest first
};

}  // namespace switchgear::listen
