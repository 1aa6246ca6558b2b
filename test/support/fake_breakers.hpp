// Real gates without anybody behind them: a test says what state they are in and reads what they counted.
#pragma once

#include "port/breakers.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace switchgear::test {

class fake_breakers final : public port::breakers {
 public:
  unsigned kicks = 0;
  unsigned waits = 0;
  /// What a wait for a probe's place brings.
  std::function<void(breaker::gate&)> on_wait;

  breaker::gate& tool(std::string_view name, const breaker::settings& values) override {
    return gate(breaker::scope::tool, std::string(name), values);
  }
  breaker::gate& server(std::string_view alias, const breaker::settings& values) override {
    return gate(breaker::scope::server, "server:" + std::string(alias), values);
  }
  void kick(breaker::gate&) noexcept override { ++kicks; }
  boost::asio::awaitable<void> probe(async::worker&, breaker::gate& which, time_point) override {
    ++waits;
    if (on_wait) on_wait(which);
    co_return;
  }
  std::vector<port::circuit> snapshot() const override { return {}; }
  boost::asio::awaitable<bool> admin(port::command) override { co_return false; }

  breaker::gate& named(const std::string& name) { return *gates_.at(name); }

  /// Puts a gate into a state; `leases` as for probes.
  void put(const std::string& name, breaker::view view, unsigned leases = 0) {
    breaker::reply said;
    said.view = view;
    said.view.generation = ++generation_;
    for (unsigned i = 0; i < leases; ++i) {
      said.leases.push_back({++token_, std::chrono::seconds(10), std::chrono::seconds(10)});
    }
    named(name).apply(said, async::worker::now());
  }
  void open(const std::string& name, duration since, duration retry_after) {
    put(name, {.state = breaker::state::open, .since = since, .retry_after = retry_after});
  }
  /// What the gate has counted since the last time.
  breaker::report collect(const std::string& name) { return named(name).collect(async::worker::now()); }

 private:
  breaker::gate& gate(breaker::scope scope, std::string name, const breaker::settings& values) {
    auto& made = gates_[name];
    if (!made) made = std::make_unique<breaker::gate>(name, scope, 2, values);
    return *made;
  }

  std::map<std::string, std::unique_ptr<breaker::gate>> gates_;
  std::uint64_t generation_ = 0;
  std::uint64_t token_ = 0;
};

}  // namespace switchgear::test
