// The flusher on a real clock, in steps of an event loop; every wait is bounded and ends as soon as it may.
#include "peers/flusher.hpp"

#include "breaker/permit.hpp"
#include "peers/memory_board.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace switchgear::peers {
namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

constexpr breaker::outcome good{breaker::verdict::success, false, false};
constexpr breaker::outcome bad{breaker::verdict::failure, false, false};

/// Writes transitions down, as "scope from>to reason note".
class listening_recorder : public port::recorder {
 public:
  std::vector<std::string> heard;

  std::uint32_t tool_slot(std::string_view) override { return 0; }
  void call_finished(unsigned, const port::call_record&) noexcept override {}
  void refused(unsigned, port::refusal) noexcept override {}
  void connections(unsigned, int) noexcept override {}
  void upstream_changed(std::string_view, bool, std::string_view) override {}
  void transition(const port::transition_record& t) override {
    heard.push_back(std::string(t.scope) + ' ' + std::string(t.from) + '>' + std::string(t.to) + ' ' +
                    std::string(t.reason) + (t.note.empty() ? "" : " by " + std::string(t.note)));
  }
};

breaker::settings quick() {
  breaker::settings values;
  values.cooldown = 30ms;
  values.max_cooldown = 30ms;
  values.jitter = 0;
  values.probes_needed = 1;
  values.probe_failures_allowed = 0;
  values.probe_wait = 500ms;
  values.ramp = 0s;
  return values;
}

struct scene {
  scene() { flusher.start(); }
  ~scene() {
    flusher.stop();
    control.io.restart();
    control.io.run_for(1s);
    EXPECT_TRUE(control.io.stopped());  // nothing was left running
  }

  /// Runs the control thread until `done`; false at the limit.
  bool until(const std::function<bool()>& done) {
    const time_point limit = async::worker::now() + 3s;
    while (!done()) {
      if (async::worker::now() > limit) return false;
      control.io.restart();
      control.io.run_one_for(50ms);
    }
    return true;
  }

  void call(breaker::gate& tool, const breaker::outcome& how) {
    auto asked = breaker::acquire(tool, server, 0, async::worker::now());
    if (asked && asked.permit().settle(how, good)) flusher.kick(tool);
  }
  void fail(breaker::gate& tool) {
    for (int i = 0; i < 9; ++i) call(tool, bad);
    EXPECT_TRUE(until([&] { return tool.state() == breaker::state::open; }));
  }
  bool order(port::command what) {
    std::optional<bool> known;
    asio::co_spawn(control.io, flusher.admin(std::move(what)), [&](std::exception_ptr, bool was) { known = was; });
    EXPECT_TRUE(until([&] { return known.has_value(); }));
    return known.value_or(false);
  }
  port::circuit shown(std::string_view name) {
    for (port::circuit& each : flusher.snapshot())
      if (each.name == name) return std::move(each);
    return {};
  }

  async::worker control{1};
  memory_board board{&async::worker::now, 1};
  listening_recorder recorder;
  peers::flusher flusher{control, board, recorder, 2};
  breaker::gate& server = flusher.server("search", {});
};

TEST(flusher, gives_the_same_gate_for_the_same_name) {
  scene on;
  breaker::gate& tool = on.flusher.tool("query", {});
  EXPECT_EQ(&tool, &on.flusher.tool("query", quick()));
  EXPECT_NE(&tool, &on.flusher.server("query", {}));
  EXPECT_EQ(on.server.name(), "server:search");
  EXPECT_EQ(on.server.scope(), breaker::scope::server);
}

TEST(flusher, opens_a_gate_soon_after_the_decisive_failure) {
  scene on;
  breaker::gate& tool = on.flusher.tool("query", {});
  on.fail(tool);
  EXPECT_EQ(on.recorder.heard, std::vector<std::string>{"query closed>open outage"});
  EXPECT_EQ(on.server.state(), breaker::state::closed);
}

TEST(flusher, applies_other_settings_in_place) {
  scene on;
  breaker::gate& tool = on.flusher.tool("query", {});
  on.fail(tool);
  breaker::settings values;
  values.mode = breaker::mode::disabled;
  values.p99 = 7ms;
  on.flusher.tool("query", values);
  EXPECT_TRUE(on.until([&] { return tool.state() == breaker::state::closed; }));
  EXPECT_EQ(tool.slow_after(), 7ms);
  EXPECT_EQ(on.recorder.heard.back(), "query open>closed settings");
}

TEST(flusher, lets_a_waiting_call_probe_once_the_cooldown_is_over) {
  // given an open breaker whose stay is nearly over
  scene on;
  breaker::gate& tool = on.flusher.tool("query", quick());
  on.fail(tool);
  auto asked = breaker::acquire(tool, on.server, 1, async::worker::now());
  ASSERT_FALSE(asked);
  ASSERT_EQ(asked.refusal().probe_wait, 500ms);

  // when a call on another thread waits for a place
  async::worker data(0);
  bool waited = false;
  const time_point began = async::worker::now();
  asio::co_spawn(data.io, on.flusher.probe(data, tool, began + 2s), [&](std::exception_ptr) { waited = true; });
  std::thread thread([&] { data.io.run(); });
  EXPECT_TRUE(on.until([&] { return tool.probe_ready(); }));
  thread.join();

  // then it is woken well before its wait is over, and its success closes the breaker
  EXPECT_TRUE(waited);
  EXPECT_LT(async::worker::now() - began, 480ms);  // 30 ms, but for a busy machine
  on.call(tool, good);
  EXPECT_TRUE(on.until([&] { return tool.state() == breaker::state::closed; }));
  EXPECT_EQ(on.recorder.heard,
            (std::vector<std::string>{"query closed>open outage", "query open>half_open cooldown_over",
                                      "query half_open>closed probes_passed"}));
}

TEST(flusher, does_not_let_a_second_call_wait_nor_any_call_too_long) {
  scene on;
  breaker::settings values = quick();
  values.cooldown = values.max_cooldown = 10s;
  values.probe_wait = 20ms;
  breaker::gate& tool = on.flusher.tool("query", values);
  on.fail(tool);
  int first = 0, second = 0;
  const time_point began = async::worker::now();
  asio::co_spawn(on.control.io, on.flusher.probe(on.control, tool, began + 10s), [&](std::exception_ptr) { ++first; });
  asio::co_spawn(on.control.io, on.flusher.probe(on.control, tool, began + 10s), [&](std::exception_ptr) { ++second; });
  EXPECT_TRUE(on.until([&] { return second == 1; }));
  EXPECT_EQ(first, 0);
  EXPECT_TRUE(on.until([&] { return first == 1; }));
  EXPECT_GE(async::worker::now() - began, 20ms);
  EXPECT_TRUE(tool.begin_wait());
}

TEST(flusher, frees_the_queue_when_a_waiting_call_is_destroyed) {
  scene on;
  breaker::gate& tool = on.flusher.tool("query", quick());
  {
    async::worker gone(0);
    asio::co_spawn(gone.io, on.flusher.probe(gone, tool, async::worker::now() + 10s), asio::detached);
    gone.io.poll();
    EXPECT_FALSE(tool.begin_wait());
  }
  EXPECT_TRUE(tool.begin_wait());
}

TEST(flusher, carries_out_an_operators_order_before_it_returns) {
  scene on;
  breaker::gate& tool = on.flusher.tool("query", {});
  EXPECT_TRUE(on.order({"query", breaker::order::open, 10min, "maintenance", "ann"}));
  EXPECT_EQ(tool.state(), breaker::state::open);
  const port::circuit seen = on.shown("query");
  EXPECT_TRUE(seen.forced);
  EXPECT_EQ(seen.note, "ann: maintenance");
  EXPECT_GT(seen.retry_after, 9min);
  EXPECT_EQ(on.recorder.heard.back(), "query closed>open operator_open by ann: maintenance");
  EXPECT_TRUE(on.order({"query", breaker::order::close, 0s, "done", "ann"}));
  EXPECT_EQ(tool.state(), breaker::state::closed);
  EXPECT_FALSE(on.order({"nobody", breaker::order::open, 0s, "", ""}));
}

TEST(flusher, shows_what_stands_in_the_window_and_what_would_trip) {
  scene on;
  breaker::gate& tool = on.flusher.tool("query", {});
  for (int i = 0; i < 40; ++i) {
    auto asked = breaker::acquire(tool, on.server, i % 2, async::worker::now());
    asked.permit().settle(i % 10 == 0 ? bad : good, good, 20ms);
  }
  on.flusher.kick(tool);
  EXPECT_TRUE(on.until([&] { return on.shown("query").figures.counts.calls == 40; }));
  const port::circuit seen = on.shown("query");
  EXPECT_EQ(seen.state, breaker::state::closed);
  EXPECT_DOUBLE_EQ(seen.error_rate, 0.1);
  EXPECT_GT(seen.figures.failures_to_trip, 6u);
  EXPECT_NEAR(std::chrono::duration<double>(seen.p99).count(), 0.020, 0.0025);
  EXPECT_EQ(seen.settings, breaker::settings{});
}

TEST(flusher, says_what_is_left_and_gives_leases_back_before_it_ends) {
  // given a breaker with a lease ready for a probe, and a good call on another
  scene on;
  breaker::gate& tool = on.flusher.tool("query", quick());
  breaker::gate& other = on.flusher.tool("fetch", {});
  on.fail(tool);
  on.until([&] { return !breaker::acquire(tool, on.server, 0, async::worker::now()) && tool.probe_ready(); });
  on.call(other, good);

  // when it ends
  bool ended = false;
  asio::co_spawn(on.control.io, on.flusher.finish(), [&](std::exception_ptr) { ended = true; });
  ASSERT_TRUE(on.until([&] { return ended; }));

  // then the place of the probe is free, and the call is counted
  EXPECT_FALSE(tool.probe_ready());
  EXPECT_EQ(on.shown("query").figures.probes_in_flight, 0u);
  EXPECT_EQ(on.shown("fetch").figures.counts.calls, 1u);
}

/// Takes as long as it is told, and counts.
class slow_board final : public port::board {
 public:
  explicit slow_board(async::worker& control) : timer_(control.io) {}
  asio::awaitable<error_code> exchange(std::vector<port::board_entry>&) override {
    started.push_back(async::worker::now());
    timer_.expires_after(length);
    co_await timer_.async_wait(asio::use_awaitable);
    co_return make_error_code(boost::system::errc::timed_out);
  }
  bool shared() const override { return true; }

  duration length = 60ms;
  std::vector<time_point> started;

 private:
  asio::steady_timer timer_;
};

TEST(flusher, leaves_a_slow_board_alone_for_three_quarters_of_the_time) {
  async::worker control{0};
  slow_board board(control);
  listening_recorder recorder;
  flusher tested(control, board, recorder, 1);
  breaker::gate& server = tested.server("search", {});
  breaker::gate& tool = tested.tool("query", {});
  tested.start();
  const time_point limit = async::worker::now() + 3s;
  while (board.started.size() < 4 && async::worker::now() < limit) {
    auto asked = breaker::acquire(tool, server, 0, async::worker::now());
    asked.permit().settle(bad, good, 1ms);
    tested.kick(tool);
    control.io.restart();
    control.io.run_one_for(5ms);
  }
  ASSERT_EQ(board.started.size(), 4u);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_GE(board.started[i] - board.started[i - 1], 4 * board.length);
  tested.stop();
  control.io.restart();
  control.io.run_for(1s);
}

TEST(flusher, hears_of_gates_that_nobody_kicked) {
  scene on;
  breaker::gate& tool = on.flusher.tool("query", {});
  on.until([&] { return on.shown("query").since != time_point{}; });
  on.call(tool, good);
  EXPECT_TRUE(on.until([&] { return on.shown("query").figures.counts.calls == 1; }));
}

}  // namespace
}  // namespace switchgear::peers
