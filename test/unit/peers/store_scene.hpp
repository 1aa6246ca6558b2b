// A store among nodes of the test's own, which do what no healthy one would.
#pragma once

#include "peers/redis/store.hpp"
#include "support/redis/event_loop.hpp"
#include "support/redis/fake_node.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace switchgear::peers::redis {

using namespace std::chrono_literals;
using kind = enum response::kind;
using layout = port::redis_settings::layout;
using test::fake_node;
using test::run;
using test::run_until;

inline std::string bulk(const std::string& text) {
  return '$' + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}
inline std::string integer(std::uint64_t value) {
  return ':' + std::to_string(value) + "\r\n";
}

/// A store, and the nodes that it may find. All answer +OK unless told otherwise.
struct scene {
  explicit scene(layout shape, unsigned nodes = 1) {
    for (unsigned i = 0; i < nodes; ++i) node.push_back(std::make_unique<fake_node>(io));
    settings.shape = shape;
    settings.hosts = {node[0]->where()};
    settings.timeout = 100ms;
  }
  ~scene() {
    if (tested) tested->stop();
    for (auto& each : node) each->stop();
    io.restart();
    io.run_for(1s);
    EXPECT_TRUE(io.stopped());  // nothing was left running
  }

  void start() {
    tested.emplace(io, settings, 7, [this](std::string_view message) { called.emplace_back(message); });
    if (settings.shape != layout::cluster) tested->follow("cb1:{*}:ev");
    tested->start();
  }
  [[nodiscard]] bool until(const std::function<bool()>& holds, duration limit = 5s) {
    return run_until(io, holds, limit);
  }
  [[nodiscard]] bool connected(std::initializer_list<unsigned> slots) {
    return until([&] { return std::ranges::all_of(slots, [&](unsigned slot) { return answered(slot); }); });
  }
  bool answered(unsigned slot) { return ask({{slot, {"HELLO?"}}})[0].kind == kind::text; }
  std::vector<response> ask(std::vector<routed> commands) { return run(io, tested->ask(std::move(commands))); }

  /// What CLUSTER SLOTS says when the slots from 0 on are with these nodes, in equal parts.
  std::string map_of(const std::vector<unsigned>& owners) const {
    std::string bytes = '*' + std::to_string(owners.size()) + "\r\n";
    const auto share = slot_count / owners.size();
    for (std::size_t i = 0; i < owners.size(); ++i) {
      bytes += "*3\r\n" + integer(i * share) + integer((i + 1) * share - 1);
      bytes += "*2\r\n" + bulk("127.0.0.1") + integer(node[owners[i]]->where().port);
    }
    return bytes;
  }
  /// All nodes give this map from now on, and `other` answers the other commands of each.
  void as_cluster(std::vector<unsigned> owners) {
    map = map_of(owners);
    for (auto& each : node) {
      each->answer = [this, self = each.get()](const command& asked) {
        if (asked[0] == "CLUSTER") return map;
        const auto own = other.find(self);
        return own == other.end() ? std::string("+OK\r\n") : own->second(asked);
      };
    }
  }
  void answer(unsigned which, std::function<std::string(const command&)> said) {
    other[node[which].get()] = std::move(said);
  }

  boost::asio::io_context io;
  std::vector<std::unique_ptr<fake_node>> node;
  port::redis_settings settings;
  std::optional<store> tested;
  std::vector<std::string> called;
  std::string map;
  std::map<fake_node*, std::function<std::string(const command&)>> other;
};

}  // namespace switchgear::peers::redis
