// Requests of a server that somebody answers while the stream they came on is read on.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "base/buffer.hpp"
#include "protocol/message.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::upstream {

/// On one worker. Several may be open at once, each in a coroutine of its own; none is left when end() has returned,
/// which must be waited for before the destructor.
class asked_requests {
 public:
  /// Gives a whole response with the request's id, soon after `until` was raised at the latest.
  using asker = std::function<boost::asio::awaitable<std::string>(std::string_view text, const protocol::message& seen,
                                                                  async::interrupt& until)>;
  /// Takes a response for the server. Must not block.
  using answerer = std::function<void(std::string response)>;

  /// More at once than any honest server asks of one client. Those beyond it are refused.
  static constexpr std::size_t most_open = 32;

  /// `limit`: for one answer; zero: none but end().
  asked_requests(async::worker& on, duration limit, asker ask, answerer answer);

  /// Keeps a copy. `ping` is answered here and now.
  void add(std::string_view text, const protocol::message& seen);
  /// The server takes the request with this raw id back: it gets no response.
  void take_back(std::string_view id);
  /// Takes all of them back and waits until none is open.
  boost::asio::awaitable<void> end();

 private:
  struct question {
    explicit question(async::worker& on) : until(on.timers) {}
    buffer text;
    protocol::scratch space;
    protocol::message seen;
    async::interrupt until;
    bool taken_back = false;
  };

  boost::asio::awaitable<void> answer_one(std::shared_ptr<question> one);
  void take_back(question& one);

  async::worker& on_;
  const duration limit_;
  const asker ask_;
  const answerer answer_;
  std::vector<std::shared_ptr<question>> open_;
  boost::asio::steady_timer none_open_;  // cancelled when the last one is gone
};

/// The response to a request that nobody here may answer.
std::string refusal_of(std::string_view text, const protocol::message& request);

}  // namespace switchgear::upstream
