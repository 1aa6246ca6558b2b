// What goes to a client over our standard output, one message a line.
// Source: MCP 2025-11-25 and 2026-07-28 basic/transports "stdio".
#pragma once

#include "async/worker.hpp"
#include "listen/questions.hpp"
#include "listen/sessions.hpp"
#include "port/call_handler.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace switchgear::listen {

/// All answers and notifications to one client. What is added waits here until the client reads; whoever adds much
/// waits in flush(). One worker.
class stdio_output final : public port::event_sink {
 public:
  /// Takes the descriptor over.
  stdio_output(async::worker& on, int descriptor, listen::questions& questions);

  /// The legacy client at the other end, which servers may ask; must live until close().
  void opened(const session& client) { client_ = &client; }

  void add(parts message) override;
  /// Completes when no more than most_waiting bytes are left, or when nobody should wait for that.
  boost::asio::awaitable<void> flush() override;
  boost::asio::awaitable<std::string> ask(std::string_view text, const protocol::message& seen,
                                          async::interrupt& until) override;

  /// Writes until it was closed and all is out, or until the client is gone. Once.
  boost::asio::awaitable<void> run();
  /// From now on nobody waits for room: there will be little more.
  void hurry();
  /// Nothing more will be added.
  void close();
  /// Nothing more will be written.
  void give_up();

  /// Nobody reads any more: the pipe is broken, or it was full for `longest_stall`.
  bool broken() const { return broken_; }
  bool has_room() const { return broken_ || hurried_ || waiting_bytes_ <= most_waiting; }

  static constexpr std::size_t most_waiting = 4 * 1024 * 1024;
  static constexpr duration longest_stall = std::chrono::minutes(10);

 private:
  boost::asio::awaitable<bool> write(std::string_view lines);
  void break_off();

  async::worker& on_;
  boost::asio::posix::stream_descriptor descriptor_;
  listen::questions& questions_;
  const session* client_ = nullptr;
  const std::uint64_t route_;
  std::deque<std::string> lines_;
  std::size_t waiting_bytes_ = 0;      // of lines_, and of those that are being written
  boost::asio::steady_timer changed_;  // never expires: cancelling it is the event
  bool hurried_ = false;
  bool closed_ = false;
  bool broken_ = false;
};

}  // namespace switchgear::listen
