// The questions of a child that are being answered.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "upstream/stdio_request.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::upstream {

/// Each is a coroutine of its own, so that several may be under way; none is left after end(). One worker.
class stdio_questions {
 public:
  /// As port::client_side::ask.
  using asker = std::function<boost::asio::awaitable<std::string>(std::string_view text, const protocol::message& seen,
                                                                  async::interrupt& until)>;

  /// No question takes longer than `limit`.
  stdio_questions(async::worker& on, duration limit, asker ask);

  void open(stdio_question question);
  /// The child no longer wants to know.
  void withdraw(std::string_view id);
  /// Interrupts all and completes when each has been answered. Nothing may be opened any more.
  boost::asio::awaitable<void> end(async::interrupt::reason why);

 private:
  struct entry {
    entry(async::worker& on, stdio_question asked) : question(std::move(asked)), until(on.timers) {}
    stdio_question question;
    async::interrupt until;
  };

  boost::asio::awaitable<void> run(std::shared_ptr<entry> one);

  async::worker& on_;
  duration limit_;
  asker ask_;
  std::vector<std::shared_ptr<entry>> open_;
  boost::asio::steady_timer one_ended_;  // never expires: cancelling it is the event
};

}  // namespace switchgear::upstream
