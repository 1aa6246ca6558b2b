// A client that keeps what it hears and answers what it is asked as a test tells it to.
#pragma once

#include "async/wait.hpp"
#include "port/call_handler.hpp"
#include "protocol/errors.hpp"
#include "protocol/results.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::call {

class listening_client final : public port::event_sink {
 public:
  std::vector<std::string> heard;
  std::vector<std::string> asked;   ///< whole requests
  std::deque<std::string> answers;  ///< results; when there is none left, it refuses
  duration thinks_for{};
  unsigned flushes = 0;

  void add(parts message) override { heard.push_back(joined(message)); }
  boost::asio::awaitable<void> flush() override {
    ++flushes;
    co_return;
  }
  boost::asio::awaitable<std::string> ask(std::string_view text, const protocol::message& seen,
                                          async::interrupt& until) override {
    asked.emplace_back(text);
    if (thinks_for > duration::zero()) {
      boost::asio::steady_timer thought(co_await boost::asio::this_coro::executor, thinks_for);
      co_await async::wait(thought, until);
      if (until.raised()) answers.clear();
    }
    const std::string_view id = seen.id.in(text);
    if (answers.empty()) co_return protocol::write_error(id, -1, "no, thanks");
    std::string answer = protocol::write_result(id, answers.front());
    answers.pop_front();
    co_return answer;
  }
};

}  // namespace switchgear::call
