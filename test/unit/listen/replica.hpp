// A whole front on a free port, before a call handler that does what the tool's name says.
#pragma once

#include "listen/server.hpp"
#include "protocol/errors.hpp"
#include "protocol/results.hpp"
#include "support/fake_recorder.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace switchgear::listen {

/// Tools: `progress` says something first, `ask` asks the client for a sample, `wait` waits until it is interrupted,
/// `poll` lets the client go before that, `fail` answers an error that wants status 400, `later` one that is to be
/// tried again in 7 s; any other method or tool answers at once who asked.
class obedient_handler final : public port::call_handler {
 public:
  std::atomic<int> interrupted{-1};  ///< async::interrupt::reason of the last `wait`
  std::atomic<int> waiting{0};

  boost::asio::awaitable<void> call(async::worker& on, const port::incoming_call& call, async::interrupt& interrupt,
                                    port::event_sink* client, port::answer& out) override {
    const std::string_view name = call.seen->name_text;
    const std::string_view id = call.seen->id.in(call.text);
    std::string result = R"({"session":")" + std::string(call.client.session) + R"(","level":)" +
                         (call.client.log_level.empty() ? "null" : std::string(call.client.log_level)) + "}";
    if (name == "progress" && client != nullptr) {
      const std::string note = R"({"jsonrpc":"2.0","method":"notifications/progress"})";
      parts pieces;
      pieces.push_back(note);
      client->add(std::move(pieces));
      co_await client->flush();
    } else if (name == "ask" && client != nullptr) {
      const std::string question = R"({"jsonrpc":"2.0","id":"server-1","method":"sampling/createMessage","params":{}})";
      protocol::scratch space;
      const auto seen = protocol::peek(question, space);
      result = R"({"said":)" + co_await client->ask(question, *seen, interrupt) + "}";
    } else if (name == "wait" || name == "poll") {
      if (name == "poll" && client != nullptr) client->let_go();
      boost::asio::steady_timer timer(on.io, time_point::max());
      const async::interrupt::guard guard(
          interrupt, [](void* it) { static_cast<boost::asio::steady_timer*>(it)->cancel(); }, &timer);
      ++waiting;
      error_code ignored;
      if (!interrupt.raised()) {
        co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
      }
      --waiting;
      interrupted = static_cast<int>(interrupt.why());
    } else if (name == "fail") {
      out.text = protocol::write_error(id, protocol::code::missing_capability, "no");
      out.pieces.push_back(out.text);
      out.status = 400;
      co_return;
    } else if (name == "later") {
      out.retry_after = 7;
    }
    out.text = std::move(result);
    protocol::write_result(id, out.text, out.pieces);
  }
};

class replica {
 public:
  explicit replica(port::listen_settings settings = {}, port::fleet* (*join)(void*, async::worker&) = nullptr,
                   void* context = nullptr) {
    settings.port = 0;
    settings.drain = std::chrono::milliseconds(100);
    clientele_links links{.control = control};
    if (join != nullptr) links.fleet = join(context, control);
    links.on_watch = [this](std::vector<std::string> uris) {
      const std::lock_guard lock(mutex_);
      watched_ = std::move(uris);
    };
    links.on_session_end = [this](std::string_view session) {
      const std::lock_guard lock(mutex_);
      ended_.emplace_back(session);
    };
    server_.emplace(std::vector<async::worker*>{&data}, settings, std::vector<port::call_handler*>{&handler}, recorder,
                    std::move(links));
    EXPECT_FALSE(server_->listen());
    for (async::worker* one : {&data, &control}) {
      guards_.push_back(boost::asio::make_work_guard(one->io));
      threads_.emplace_back([one] { one->io.run(); });
    }
  }
  ~replica() {
    drain();
    for (async::worker* one : {&data, &control}) one->io.stop();
    for (std::thread& one : threads_) one.join();
    for (async::worker* one : {&data, &control}) one->io.abandon();
  }

  void drain() {
    if (std::exchange(drained_, true)) return;
    boost::asio::co_spawn(control.io, server_->drain(control), boost::asio::use_future).wait();
  }

  clientele& clients() { return server_->clients(); }
  std::uint16_t port() const { return server_->port(); }
  std::vector<std::string> watched() {
    const std::lock_guard lock(mutex_);
    return watched_;
  }
  std::vector<std::string> ended() {
    const std::lock_guard lock(mutex_);
    return ended_;
  }

  async::worker data{0};
  async::worker control{1};
  obedient_handler handler;

 private:
  test::fake_recorder recorder;
  std::optional<server> server_;
  std::vector<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> guards_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::vector<std::string> watched_, ended_;
  bool drained_ = false;
};

/// True as soon as `condition` holds; false if it does not within five seconds.
template <class Condition>
bool soon(Condition condition) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > limit) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace switchgear::listen
