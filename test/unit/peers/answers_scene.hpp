// Replicas that keep answers for each other on a real redis-server, all in the test's own event loop.
#pragma once

#include "async/worker.hpp"
#include "peers/redis/answers.hpp"
#include "support/redis/event_loop.hpp"
#include "support/redis/fake_node.hpp"
#include "support/redis/server.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace switchgear::peers::redis {

using namespace std::chrono_literals;

constexpr std::size_t MiB = 1024 * 1024;

inline port::question_digest question_of(unsigned number) {
  port::question_digest asked{};
  asked[0] = static_cast<unsigned char>(number);
  asked[1] = static_cast<unsigned char>(number >> 8);
  asked[2] = static_cast<unsigned char>(number >> 16);
  return asked;
}

struct answers_scene {
  explicit answers_scene(std::uint16_t port) : at{"127.0.0.1", port} {
    settings.hosts = {at};
    settings.timeout = 500ms;  // the machine may be busy with something else
  }
  ~answers_scene() {
    for (auto& each : replicas) each->stop();
    console.close();
    worker.io.restart();
    worker.io.run_for(2s);
    EXPECT_TRUE(worker.io.stopped());  // nothing was left running
  }

  answers& start(std::size_t bytes = 64 * MiB) {
    replicas.push_back(std::make_unique<answers>(worker.io, settings, replicas.size() + 1, bytes));
    replicas.back()->start();
    return *replicas.back();
  }
  [[nodiscard]] bool until(const std::function<bool()>& holds, duration limit = 5s) {
    return test::run_until(worker.io, holds, limit);
  }
  [[nodiscard]] bool told(const answers& by, std::uint64_t count) {
    return until([&] { return by.figures().told >= count; });
  }

  using found = port::answers::found;
  std::optional<found> find(answers& by, unsigned number, duration max_age = 10min, duration within = 10s) {
    async::interrupt whole(worker.timers);
    whole.arm(async::worker::now() + within);
    return test::run(worker.io, wrapped(by, number, max_age, whole)).got;
  }
  std::string text(answers& by, unsigned number, duration max_age = 10min) {
    const auto got = find(by, number, max_age);
    return got ? *got->result : "nothing";
  }
  /// It may take some tries on a busy machine.
  [[nodiscard]] bool finds(answers& by, unsigned number, const std::string& what) {
    return until([&] { return text(by, number) == what; });
  }

  /// A command of the test's own.
  response ask(command words) {
    if (!console.usable()) {
      const std::string why = test::run(worker.io, console.open(at, {}));
      if (!why.empty()) return {response::kind::error, why, 0, {}};
    }
    return test::run(worker.io, console.ask({std::move(words)}, 5s)).at(0);
  }

  async::worker worker{0};
  port::redis_settings::host at;
  port::redis_settings settings;
  std::vector<std::unique_ptr<answers>> replicas;
  link console{worker.io};

 private:
  struct outcome {
    std::optional<found> got;
  };
  boost::asio::awaitable<outcome> wrapped(answers& by, unsigned number, duration max_age, async::interrupt& whole) {
    co_return outcome{co_await by.find(worker, question_of(number), max_age, whole)};
  }
};

}  // namespace switchgear::peers::redis
