// Seam: where the truth about all breakers is kept. In this process, or in a store that all replicas share.
#pragma once

#include "base/result.hpp"
#include "base/time.hpp"
#include "breaker/report.hpp"
#include "breaker/settings.hpp"

#include <boost/asio/awaitable.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace switchgear::port {

/// One scope's turn in an exchange. The views and pointers live until the exchange has completed.
struct board_entry {
  struct command {
    breaker::order order;
    duration hold;
  };

  std::string_view name;  ///< of the scope; unique over tools and servers
  breaker::scope scope = breaker::scope::tool;
  const breaker::settings* settings = nullptr;
  std::uint64_t revision = 0;  ///< rises when the settings change
  std::optional<command> ordered;
  breaker::report said;
  breaker::reply answer;  ///< filled by the exchange
};

/// How many lengths of time fell between which ends.
struct flush_lengths {
  static constexpr std::array<duration, 12> ends = {
      std::chrono::microseconds(250),  std::chrono::microseconds(500), std::chrono::milliseconds(1),
      std::chrono::microseconds(2500), std::chrono::milliseconds(5),   std::chrono::milliseconds(10),
      std::chrono::milliseconds(25),   std::chrono::milliseconds(50),  std::chrono::milliseconds(100),
      std::chrono::milliseconds(250),  std::chrono::milliseconds(500), std::chrono::seconds(1)};

  std::array<std::uint64_t, ends.size() + 1> counts{};  ///< an end belongs to its bucket; the last one has none
  duration sum{};

  void add(duration length) {
    ++counts[static_cast<std::size_t>(std::ranges::lower_bound(ends, length) - ends.begin())];
    sum += length;
  }
};

/// What a shared board has done, since the start. All zero for one in this process.
struct board_figures {
  bool shared = false;                ///< the board is the replicas' common one, and answers
  std::uint64_t flushes = 0;          ///< exchanges that it answered
  std::uint64_t missed = 0;           ///< exchanges that it did not answer, or not in time
  flush_lengths took;                 ///< those that it answered
  std::uint64_t leases_granted = 0;   ///< probes' leases, to this replica
  std::uint64_t leases_returned = 0;  ///< given back unused
  std::uint64_t leases_expired = 0;   ///< taken back for any replica, in an exchange of this one
  std::uint64_t losses = 0;           ///< times that this replica had to go on alone
  std::uint32_t replicas = 0;         ///< heard from within ten seconds; 0 = not known
};

class board {
 public:
  virtual ~board() = default;

  /// Carries the reports there and the answers back, each scope's in order: settings, command, report. On an error no
  /// answer is valid, and a report may or may not have arrived; it must not be sent again. Control thread; one at a
  /// time.
  virtual boost::asio::awaitable<error_code> exchange(std::vector<board_entry>& entries) = 0;

  /// Others may change what it holds, so it must be asked now and then even when there is nothing to say.
  virtual bool shared() const { return false; }
  /// How often it takes reports that are not urgent.
  virtual duration interval() const { return std::chrono::milliseconds(100); }
  /// Hears the names of scopes that somebody else has changed. Control thread. Before the first exchange.
  virtual void on_change(std::function<void(std::string_view)>) {}
  virtual board_figures figures() const { return {}; }
};

}  // namespace switchgear::port
