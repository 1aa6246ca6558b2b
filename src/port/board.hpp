// Seam: where the truth about all breakers is kept. In this process, or in a store that all replicas share.
#pragma once

#include "base/result.hpp"
#include "base/time.hpp"
#include "breaker/report.hpp"
#include "breaker/settings.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
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

class board {
 public:
  virtual ~board() = default;

  /// Carries the reports there and the answers back, each scope's in order: settings, command, report. On an error no
  /// answer is valid, and a report may or may not have arrived; it must not be sent again. Control thread; one at a
  /// time.
  virtual boost::asio::awaitable<error_code> exchange(std::vector<board_entry>& entries) = 0;
};

}  // namespace switchgear::port
