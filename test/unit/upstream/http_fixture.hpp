// An http_upstream before a scripted server, both in one event loop.
#pragma once

#include "support/mcp_server.hpp"
#include "support/peeked.hpp"
#include "upstream/http_upstream.hpp"

#include <boost/asio/co_spawn.hpp>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchgear::upstream {

struct recorded_news final : observer {
  std::vector<listing> listings;
  std::vector<port::upstream_status> states;
  std::vector<std::string> remarks, notifications, questions;

  void listed(unsigned, listing offer) override { listings.push_back(std::move(offer)); }
  void state_changed(unsigned, const port::upstream_status& status) override { states.push_back(status); }
  void remark(unsigned, std::string_view line) override { remarks.emplace_back(line); }
  void notified(unsigned, std::string_view text, const protocol::message&) override {
    notifications.emplace_back(text);
  }
  boost::asio::awaitable<std::string> asked(unsigned, std::string_view text, const protocol::message& seen,
                                            async::interrupt&) override {
    questions.emplace_back(text);
    co_return R"({"jsonrpc":"2.0","id":)" + std::string(seen.id.in(text)) + R"(,"result":{"answered":true}})";
  }
};

/// A client that answers what it is asked, when it is told to.
struct asked_client final : port::client_side {
  std::vector<std::string> order;  // what reached it: notifications and requests
  bool waits = false;              // answers only when it is interrupted
  boost::asio::io_context& io;

  explicit asked_client(boost::asio::io_context& loop) : io(loop) {}
  void take(std::string_view text, const protocol::message& seen) override {
    order.emplace_back(seen.method);
    texts.emplace_back(text);
  }
  boost::asio::awaitable<void> flush() override { co_return; }
  boost::asio::awaitable<std::string> ask(std::string_view text, const protocol::message& seen,
                                          async::interrupt& until) override;
  std::vector<std::string> texts;
  unsigned given_up = 0;
};

class http_upstream_test : public testing::Test {
 protected:
  http_upstream_test();
  ~http_upstream_test() override;

  bool says_sse = false;  ///< the configuration says that the server speaks HTTP with SSE
  std::vector<std::string> forward;

  /// At a pace for tests, unless the options name another.
  void start(http_options options = {}, std::string_view path = "/mcp");
  /// A legacy server with one tool; with a session id unless `id` is empty.
  void be_legacy(std::string_view capabilities = R"({"tools":{}})", std::string_view id = "s-1");
  void be_modern(std::string_view capabilities = R"({"tools":{}})");

  port::reply call(std::string_view request, port::outgoing_request with = {}, port::client_side* client = nullptr);
  /// Begins a call that is finished with finish().
  void begin_call(std::string_view request, port::outgoing_request with = {}, port::client_side* client = nullptr);
  port::reply finish_call();

  /// Runs the loop until it holds; fails after five seconds.
  template <class Condition>
  void until(Condition holds, std::string_view what) {
    const time_point limit = async::worker::now() + std::chrono::seconds(5);
    while (!holds() && async::worker::now() < limit) {
      on.io.restart();
      on.io.run_one_for(std::chrono::milliseconds(20));
    }
    EXPECT_TRUE(holds()) << what;
  }
  void settle(std::chrono::milliseconds length);

  async::worker on{0};
  test::mcp_server server{on.io};
  recorded_news news;
  std::unique_ptr<http_upstream> upstream;
  asked_client client{on.io};

 private:
  struct running {
    explicit running(std::string_view text, async::worker& on) : request(text), interrupt(on.timers) {}
    test::peeked request;
    async::interrupt interrupt;
    port::reply reply;
    bool done = false;
  };
  boost::asio::awaitable<void> run(std::shared_ptr<running> one, port::outgoing_request with,
                                   port::client_side* client);

 protected:
  std::shared_ptr<running> call_;
};

inline constexpr std::string_view echo_call =
    R"({"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"echo","arguments":{}}})";

}  // namespace switchgear::upstream
