// Replicas of a fleet on a real redis-server, all in the test's own event loop.
#pragma once

#include "async/worker.hpp"
#include "peers/redis/fleet.hpp"
#include "support/redis/event_loop.hpp"
#include "support/redis/fake_node.hpp"
#include "support/redis/server.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace switchgear::peers::redis {

using namespace std::chrono_literals;
using port::presence;

/// One fleet object and what it said.
struct replica {
  replica(boost::asio::io_context& io, const port::redis_settings& settings, std::uint64_t seed)
      : own(shared_key::size, static_cast<char>('a' + seed)), tested(io, settings, seed, own) {
    tested.on_key([this](std::string_view key) { keys.emplace_back(key); });
    tested.on_told([this](std::string_view message) { told.emplace_back(message); });
    tested.on_forgotten([this](std::string_view session) { forgotten.emplace_back(session); });
    tested.pauses().on_told([this](std::string_view name, duration left) { paused.emplace_back(name, left); });
    tested.start();
  }

  std::string own;
  fleet tested;
  std::vector<std::string> keys, told, forgotten;
  std::vector<std::pair<std::string, duration>> paused;
};

struct fleet_scene {
  explicit fleet_scene(std::uint16_t port) : at{"127.0.0.1", port} {
    settings.hosts = {at};
    settings.timeout = 500ms;  // the machine may be busy with something else
  }
  ~fleet_scene() {
    for (auto& each : replicas) each->tested.stop();
    if (fake) fake->stop();
    console.close();
    worker.io.restart();
    worker.io.run_for(2s);
    EXPECT_TRUE(worker.io.stopped());  // nothing was left running
  }

  replica& start() {
    replicas.push_back(std::make_unique<replica>(worker.io, settings, replicas.size() + 1));
    return *replicas.back();
  }
  /// Who knows the key and hears the channel.
  replica& join() {
    replica& made = start();
    EXPECT_TRUE(until([&] { return !made.keys.empty(); }));
    EXPECT_TRUE(until([&] { return subscribers() >= replicas.size(); }));
    return made;
  }

  [[nodiscard]] bool until(const std::function<bool()>& holds, duration limit = 5s) {
    return test::run_until(worker.io, holds, limit);
  }
  presence look(replica& by, const std::string& session) {
    return test::run(worker.io, by.tested.look(worker, session));
  }
  [[nodiscard]] bool sees(replica& by, const std::string& session, presence what) {
    return until([&] { return look(by, session) == what; });
  }

  /// A command of the test's own.
  response ask(command words) {
    if (!console.usable()) {
      const std::string why = test::run(worker.io, console.open(at, {}));
      if (!why.empty()) return {response::kind::error, why, 0, {}};
    }
    return test::run(worker.io, console.ask({std::move(words)}, 2s)).at(0);
  }
  std::size_t subscribers() {
    const std::string clients = ask({"CLIENT", "LIST", "TYPE", "pubsub"}).text;
    std::size_t found = 0;
    for (auto i = clients.find(" psub=1 "); i != std::string::npos; i = clients.find(" psub=1 ", i + 1)) ++found;
    return found;
  }

  async::worker worker{0};
  port::redis_settings::host at;  // who answers ask()
  port::redis_settings settings;
  std::optional<test::fake_node> fake;  // a sentinel, or somebody who only looks like a Redis
  std::vector<std::unique_ptr<replica>> replicas;
  link console{worker.io};
};

}  // namespace switchgear::peers::redis
