// The board of a gateway that stands alone: every scope's authority, in this process.
#pragma once

#include "breaker/authority.hpp"
#include "port/board.hpp"

#include <map>
#include <random>
#include <string>

namespace switchgear::peers {

/// One authority a scope, made when it is first heard of and kept. Not thread-safe: the control thread's.
class memory_board : public port::board {
 public:
  /// `now` reads the clock, once an exchange; `seed` starts the numbers that spread the stays in open.
  explicit memory_board(time_point (*now)(), std::uint64_t seed) : now_(now), random_(seed) {}

  boost::asio::awaitable<error_code> exchange(std::vector<port::board_entry>& entries) override;

 private:
  struct scope {
    breaker::authority authority;
    std::uint64_t revision;
  };

  void serve(port::board_entry& entry, time_point now);

  time_point (*now_)();
  std::mt19937_64 random_;
  std::map<std::string, scope, std::less<>> scopes_;
};

}  // namespace switchgear::peers
