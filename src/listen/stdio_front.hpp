// The gateway's other front: one client, which started us and speaks over our standard streams.
// Source: MCP 2025-11-25 and 2026-07-28 basic/transports "stdio", basic/lifecycle "Shutdown".
#pragma once

#include "async/interrupt.hpp"
#include "base/buffer.hpp"
#include "listen/dispatch.hpp"
#include "listen/sessions.hpp"
#include "listen/shard.hpp"
#include "listen/stdio_output.hpp"
#include "protocol/line_reader.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <string_view>

namespace switchgear::listen {

/// Serves both eras on one pair of pipes, decided message by message: a legacy client has its session and the stream
/// of that session there, a modern one has its requests. Input is not read while too much output waits. Lives on the
/// shard's worker, as one of its connections: a drain ends it.
class stdio_front final : private idle_connection {
 public:
  /// Takes the descriptors over.
  stdio_front(shard& here, int input, int output);
  ~stdio_front();

  /// Completes when the input has ended, the output is broken, or a drain began, and what was under way has been
  /// answered; listen_settings::drain limits how long that may take. Once.
  boost::asio::awaitable<void> run();

  /// Requests that may be under way at once; above it they are refused.
  static constexpr std::size_t most_requests = 1024;

 private:
  struct request;

  void end() override;

  boost::asio::awaitable<void> read_input();
  boost::asio::awaitable<void> write_output();
  boost::asio::awaitable<void> finish();
  void interrupt_requests(async::interrupt::reason why);
  boost::asio::awaitable<void> requests_end(time_point due);
  boost::asio::awaitable<void> tasks_end(time_point due);
  void take(std::string_view line);
  void take_notification(const request& one);
  void take_modern(std::unique_ptr<request> one);
  void take_legacy(std::unique_ptr<request> one);
  void take_batch(std::unique_ptr<request> one);
  void initialize(const request& one);
  void start(std::unique_ptr<request> one);
  boost::asio::awaitable<void> serve(request& one);
  boost::asio::awaitable<void> serve_batch(request& one);
  boost::asio::awaitable<void> serve_session_stream();
  void forget(const request& one);
  void say(std::string_view message);

  template <class Task>
  void spawn(Task task);

  shard& here_;
  boost::asio::posix::stream_descriptor input_;
  stdio_output output_;
  protocol::line_reader lines_;
  std::shared_ptr<session> session_;  // of a legacy client, once it has initialized
  std::list<std::unique_ptr<request>> requests_;
  std::size_t tasks_ = 0;
  boost::asio::steady_timer task_ended_;  // never expires: cancelling it is the event
  bool reading_ = true;
};

}  // namespace switchgear::listen
