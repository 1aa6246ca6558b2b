// Breakers that only show what a test gives them.
#pragma once

#include "port/breakers.hpp"

#include <cstdlib>
#include <vector>

namespace switchgear::test {

/// Answers snapshot() and board(); making a gate aborts.
class fixed_breakers final : public port::breakers {
 public:
  std::vector<port::circuit> circuits;
  port::board_figures figures;

  breaker::gate& tool(std::string_view, const breaker::settings&) override { std::abort(); }
  breaker::gate& server(std::string_view, const breaker::settings&) override { std::abort(); }
  void kick(breaker::gate&) noexcept override {}
  boost::asio::awaitable<void> probe(async::worker&, breaker::gate&, time_point) override { co_return; }
  std::vector<port::circuit> snapshot() const override { return circuits; }
  port::board_figures board() const override { return figures; }
  boost::asio::awaitable<bool> admin(port::command) override { co_return false; }
};

}  // namespace switchgear::test
