// The board that replicas share: every scope's authority in Redis, and one here for the time without it.
#pragma once

#include "peers/redis/books.hpp"
#include "peers/redis/store.hpp"
#include "port/board.hpp"
#include "port/recorder.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::peers::redis {

/// Carries questions and answers between books, which decides everything, and the store. An exchange never fails: what
/// Redis does not answer in time is answered from what is known here.
class board final : public port::board {
 public:
  /// `recorder` hears when Redis, or a node of it, or a scope's keys are lost and found, once each.
  board(boost::asio::io_context& io, const port::redis_settings& settings, std::uint64_t seed,
        port::recorder& recorder);

  void start() { store_.start(); }
  void stop() { store_.stop(); }

  boost::asio::awaitable<error_code> exchange(std::vector<port::board_entry>& entries) override;
  bool shared() const override { return true; }
  duration interval() const override { return interval_; }
  void on_change(std::function<void(std::string_view)> told) override { told_ = std::move(told); }
  port::board_figures figures() const override { return books_.figures(); }

 private:
  void hear(std::string_view message) const;

  port::recorder& recorder_;
  const std::string prefix_;
  const bool sharded_;
  const duration interval_;
  std::function<void(std::string_view)> told_;
  store store_;  // its callbacks come only after start()
  books books_;
};

}  // namespace switchgear::peers::redis
