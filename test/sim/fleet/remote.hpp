// The library of the product inside a real redis-server, on a clock that the simulation moves.
#pragma once

#include "peers/redis/exchange.hpp"
#include "peers/redis/ledger.hpp"
#include "sim/board/pair.hpp"

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::sim::fleet {

/// The text of the library: the product's, or the file that SWITCHGEAR_LIBRARY names, so that a test can show that it
/// notices when a safeguard is gone.
std::string library_text();

/// Throws when Redis itself does something unexpected.
class remote {
 public:
  remote();

  void clear();
  /// Carries out the commands one after the other at `reading`, microseconds, and says what each answered.
  std::vector<peers::redis::receipt> carry_out(std::span<const peers::redis::command> commands, std::int64_t reading);

  void remember(const peers::redis::address& scope);
  /// As it was when it was remembered last, or empty.
  void restore(const peers::redis::address& scope);
  void forget(const peers::redis::address& scope, bool state_only);

  /// I7: the totals of the window, and the sum of its slots: calls, failures, timed, slow, connects.
  struct sums {
    std::array<std::uint64_t, 5> totals{}, slots{};
  };
  std::optional<sums> window(const peers::redis::address& scope);

  std::uint64_t exchanges() const { return exchanges_; }

 private:
  test::redis_server server_;
  redis_connection redis_;
  std::map<std::string, std::string> copies_;  // key, as DUMP gives it
  std::uint64_t exchanges_ = 0;
};

}  // namespace switchgear::sim::fleet
