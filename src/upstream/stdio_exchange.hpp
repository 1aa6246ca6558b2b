// One call between two threads: the worker that waits for it, and the control worker that owns the child's pipes.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "upstream/stdio_request.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace switchgear::upstream {

/// Both sides share it; what each may touch is said below. Whether the request was sent is settled once, by whichever
/// side comes first: the control worker that is about to write it, or the waiting one that withdraws it.
class stdio_exchange final : public stdio_request, public std::enable_shared_from_this<stdio_exchange> {
 public:
  class waiter;

  stdio_exchange(async::worker& on, std::uint64_t id, std::string line) : id_(id), line_(std::move(line)), on_(on) {}

  std::uint64_t id() const { return id_; }

  // Control worker.
  std::string take_line() { return std::move(line_); }
  bool begin() override;
  void progressed(stdio_message notification) override;
  void answered(stdio_message response) override;
  void failed(port::fault why, std::string_view detail, bool sent) override;

  /// The waiting worker. True: it was not sent and never will be. False: it may have been.
  bool withdraw();

 private:
  enum class stage : std::uint8_t { queued, sent, withdrawn };
  // A stalled worker must not be buried in progress; what is dropped here is only progress.
  static constexpr unsigned most_undelivered = 64;

  void deliver(port::reply reply);

  const std::uint64_t id_;
  std::string line_;
  async::worker& on_;
  std::atomic<stage> stage_{stage::queued};
  std::atomic<unsigned> undelivered_{0};
  waiter* waiter_ = nullptr;  // the waiting worker's alone; null once it has gone
};

/// The waiting side: lives in the frame of the call, on its worker.
class stdio_exchange::waiter {
 public:
  explicit waiter(stdio_exchange& exchange);
  ~waiter() { exchange_.waiter_ = nullptr; }
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;

  /// Completes when there is progress, an answer, or `interrupt` was raised; at once if that is so already.
  boost::asio::awaitable<void> something(async::interrupt& interrupt);

  std::optional<stdio_message> next_progress();
  std::optional<port::reply>& answer() { return answer_; }
  bool saw_progress() const { return saw_progress_; }

 private:
  friend class stdio_exchange;
  static void stop(void* self);

  stdio_exchange& exchange_;
  boost::asio::steady_timer wake_;  // never expires: cancelling it is the event
  std::deque<stdio_message> progress_;
  std::optional<port::reply> answer_;
  bool saw_progress_ = false;
};

}  // namespace switchgear::upstream
