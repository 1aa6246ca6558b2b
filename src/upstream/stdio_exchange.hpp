// One call between two threads: the worker that waits for it, and the control worker that owns the child's pipes.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "protocol/version.hpp"
#include "upstream/stdio_request.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace switchgear::upstream {

/// Both sides share it; what each may touch is said below. Whether the request was sent is settled once, by whichever
/// side comes first: the control worker that is about to write it, or the waiting one that withdraws it.
class stdio_exchange final : public stdio_request, public std::enable_shared_from_this<stdio_exchange> {
 public:
  class waiter;

  /// What the waiting side must know of a call before the pipes are asked.
  struct outline {
    std::uint64_t id;
    protocol::era era;  ///< in which the line is written
    bool has_listener;
    std::string log_level;  ///< that its client wants, raw; empty: any
  };
  /// The child took back the question with this id.
  struct withdrawal {
    std::string id;
  };
  using event = std::variant<kept_message, asked_request, withdrawal>;

  stdio_exchange(async::worker& on, outline call, std::string line)
      : call_(std::move(call)), line_(std::move(line)), on_(on) {}

  std::uint64_t id() const { return call_.id; }
  protocol::era era() const { return call_.era; }
  const std::string& log_level() const { return call_.log_level; }

  // Control worker.
  std::string take_line() { return std::move(line_); }
  bool is_call() const override { return true; }
  bool has_listener() const override { return call_.has_listener; }
  bool begin() override;
  void heard(kept_message notification) override;
  void asked(asked_request question) override;
  void withdrawn(std::string_view question) override;
  void answered(kept_message response) override;
  void failed(port::fault why, std::string_view detail, bool sent) override;
  /// The line is of no use, since the child speaks the other era. Nothing was sent.
  void refuse_era();

  /// The waiting worker. True: it was not sent and never will be. False: it may have been.
  bool withdraw();

 private:
  enum class stage : std::uint8_t { queued, sent, withdrawn };
  // A stalled worker must not be buried in notifications: what is beyond this is dropped, questions are refused.
  static constexpr unsigned most_undelivered = 256;
  static constexpr std::size_t most_undelivered_bytes = 4 * 1024 * 1024;

  bool may_deliver(std::size_t bytes);
  void deliver(event happened, std::size_t bytes);
  void deliver(port::reply reply);

  const outline call_;
  std::string line_;
  async::worker& on_;
  std::atomic<stage> stage_{stage::queued};
  std::atomic<unsigned> undelivered_{0};
  std::atomic<std::size_t> undelivered_bytes_{0};
  waiter* waiter_ = nullptr;  // the waiting worker's alone; null once it has gone
};

/// The waiting side: lives in the frame of the call, on its worker.
class stdio_exchange::waiter {
 public:
  explicit waiter(stdio_exchange& exchange);
  ~waiter();
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;

  /// Completes when there is an event, an end, or `interrupt` was raised; at once if that is so already.
  boost::asio::awaitable<void> something(async::interrupt& interrupt);

  /// What the child said before its response, in its order.
  std::optional<event> next_event();
  std::optional<port::reply>& answer() { return answer_; }
  bool wrong_era() const { return wrong_era_; }
  bool heard_something() const { return heard_something_; }

 private:
  friend class stdio_exchange;

  struct delivered {
    event happened;
    std::size_t bytes;
  };

  stdio_exchange& exchange_;
  boost::asio::steady_timer wake_;  // never expires: cancelling it is the event
  std::deque<delivered> events_;
  std::optional<port::reply> answer_;
  bool wrong_era_ = false;
  bool heard_something_ = false;
};

}  // namespace switchgear::upstream
