// The board that replicas share: every scope's authority in Redis, and one here for the time without it.
#pragma once

#include "breaker/authority.hpp"
#include "peers/redis/store.hpp"
#include "port/board.hpp"
#include "port/recorder.hpp"

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <string>

namespace switchgear::peers::redis {

/// Shared: each exchange is one function call a scope, all of a pass in one go. Lost: two exchanges that Redis misses
/// are made up for (same sequence number, so that none counts twice); after the third this replica goes on alone, from
/// the last state it knew, with its share of the probes and of the least number of calls. It tries Redis with a real
/// exchange at growing intervals; then the shared state holds again, above every generation that it reached alone.
class board final : public port::board {
 public:
  static constexpr unsigned misses_allowed = 3;
  static constexpr std::uint32_t least_calls = 5;  // alone, R1 and R3 judge no fewer

  /// `recorder` hears when Redis is lost and found, once each.
  board(boost::asio::io_context& io, port::redis_settings settings, std::uint64_t seed, port::recorder& recorder);
  ~board() override;

  void start() { store_.start(); }
  void stop() { store_.stop(); }

  boost::asio::awaitable<error_code> exchange(std::vector<port::board_entry>& entries) override;
  bool shared() const override { return true; }
  void on_change(std::function<void(std::string_view)> told) override { told_ = std::move(told); }
  port::board_figures figures() const override;

 private:
  struct scope;
  struct repeat;

  scope& find_or_make(const port::board_entry& entry);
  void keep(scope& of, const port::board_entry& entry);
  void ask_again(scope& of, std::vector<routed>& commands);
  command question(scope& of, const port::board_entry& entry, std::uint64_t sequence, bool put);
  bool take(scope& of, port::board_entry& entry, const response& said);
  void serve_alone(scope& of, port::board_entry& entry);
  void overlay(scope& of, breaker::reply& answer);
  boost::asio::awaitable<bool> try_shared(std::vector<port::board_entry>& entries);
  void lost();
  void found();

  port::recorder& recorder_;
  std::mt19937_64 random_;
  port::redis_settings settings_;
  std::string instance_;
  std::function<void(std::string_view)> told_;
  std::map<std::string, std::unique_ptr<scope>, std::less<>> scopes_;
  bool alone_ = false;
  unsigned absence_ = 0;  // how often Redis was lost; a scope that was adopted in an earlier one is out of date
  unsigned misses_ = 0;
  std::uint32_t replicas_ = 1;
  time_point retry_at_{};
  duration retry_after_{};
  time_point lost_at_{};
  port::board_figures figures_;
  store store_;  // last: its callbacks use the rest
};

}  // namespace switchgear::peers::redis
