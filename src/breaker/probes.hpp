// The probes of one half_open period: who may try, what came of it. Leases, so that a lost holder blocks nobody.
#pragma once

#include "base/time.hpp"
#include "breaker/report.hpp"
#include "breaker/settings.hpp"
#include "breaker/window.hpp"

#include <cstdint>
#include <vector>

namespace switchgear::breaker {

/// Keeps: unexpired leases <= probes_in_flight; leases in any second <= max(1, share of the calls offered in it);
/// results <= probes_needed. Takes moments that never go back.
class probes {
 public:
  /// An unused lease is given back by its holder after this.
  static constexpr duration use_within = std::chrono::seconds(1);
  /// What a holder's news may take to arrive, before the lease is taken back from over here.
  static constexpr duration grace = std::chrono::milliseconds(500);
  /// So many neutral results a period are tried again; from then on they count as success, or a tool whose answers say
  /// nothing about it would stay half_open for ever.
  static constexpr unsigned neutral_allowed = 3;

  /// Starts a period: forgets everything but the tokens given so far.
  void begin();
  /// Tokens from here on are none that another authority of the same scope gives.
  void leave_to_others() { last_token_ |= std::uint64_t{1} << 62; }

  /// Leases for at most `want` probes. `offered`: calls in the last second.
  void grant(std::uint32_t want, const settings& values, std::uint64_t offered, time_point now,
             std::vector<lease>& into);
  /// When another may be granted: zero = now, max = not before a probe ends.
  duration next(const settings& values, std::uint64_t offered, time_point now) const;

  /// False: no such lease, so it decides nothing.
  bool settle(const probe_report& said);
  /// Takes back what is overdue. True: one of them was in use, and counts as failed.
  bool expire(time_point now);

  std::uint32_t in_flight() const { return static_cast<std::uint32_t>(leases_.size()); }
  std::uint32_t done() const { return done_; }
  std::uint32_t failed() const { return failed_; }
  std::uint32_t slow() const { return slow_; }

 private:
  struct held {
    std::uint64_t token;
    time_point expires;
    bool used;
  };

  std::uint32_t room(const settings& values) const;
  static std::uint64_t share(const settings& values, std::uint64_t offered);

  std::vector<held> leases_;
  std::vector<time_point> issued_;  // in the last second, oldest first
  std::uint64_t last_token_ = 0;
  std::uint32_t done_ = 0;
  std::uint32_t failed_ = 0;
  std::uint32_t slow_ = 0;
  std::uint32_t neutral_ = 0;
};

}  // namespace switchgear::breaker
