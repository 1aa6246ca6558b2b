// Requests of a server that somebody answers while the stream they came on is read on.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "protocol/message.hpp"
#include "upstream/kept_message.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchgear::upstream {

/// What a server wants to know, and the way back to it.
struct asked_request {
  kept_message request;
  std::function<void(std::string response)> answer;  ///< to be called once, on any thread; must not block
};

/// On one worker. Several may be open at once, each in a coroutine of its own; none is left when end() has returned,
/// which must be waited for before the destructor.
class asked_requests {
 public:
  /// Gives a whole response with the request's id, soon after `until` was raised at the latest.
  using asker = std::function<boost::asio::awaitable<std::string>(std::string_view text, const protocol::message& seen,
                                                                  async::interrupt& until)>;

  /// More at once than any honest server asks of one client. add() refuses those beyond it.
  static constexpr std::size_t most_open = 32;

  /// `limit`: for one answer; zero: none but end(). `answer`: the way back of what is given to add().
  asked_requests(async::worker& on, duration limit, asker ask, std::function<void(std::string response)> answer = {});

  /// Keeps a copy. `ping` is answered here and now.
  void add(std::string_view text, const protocol::message& seen);
  /// Whoever calls it bounds how many are open.
  void open(asked_request one);
  /// The server takes the request with this raw id back: it gets no response.
  void take_back(std::string_view id);

  /// What a server hears of its open requests at the end.
  enum class last_words : std::uint8_t { none, responses };
  /// Interrupts all and waits until none is open. Nothing may be opened any more.
  boost::asio::awaitable<void> end(last_words said = last_words::none);

 private:
  struct question {
    question(async::worker& on, asked_request one) : asked(std::move(one)), until(on.timers) {}
    asked_request asked;
    async::interrupt until;
    bool taken_back = false;
  };

  boost::asio::awaitable<void> answer_one(std::shared_ptr<question> one);

  async::worker& on_;
  const duration limit_;
  const asker ask_;
  const std::function<void(std::string response)> answer_;
  std::vector<std::shared_ptr<question>> open_;
  protocol::scratch space_;
  boost::asio::steady_timer none_open_;  // cancelled when the last one is gone
};

/// The response to a request that nobody here may answer.
std::string refusal_of(std::string_view text, const protocol::message& request);

}  // namespace switchgear::upstream
