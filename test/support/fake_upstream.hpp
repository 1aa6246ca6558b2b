// A tool server that answers as a test tells it to.
#pragma once

#include "async/wait.hpp"
#include "port/upstream.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchgear::test {

/// A reply that carries `text`, a JSON-RPC response.
inline port::reply reply_of(std::string_view text, int status = 200) {
  thread_local protocol::scratch space;
  port::reply made;
  made.sent = true;
  made.head_seen = true;
  made.status = status;
  made.body.append(text);
  if (const auto seen = protocol::peek(made.body.view(), space)) {
    made.message = *seen;
    made.has_message = true;
  } else {
    made.fault = port::fault::bad_message;
  }
  return made;
}

/// A reply without a message. `sent` follows from the fault, as it does upstream.
inline port::reply reply_of(port::fault fault, int status = 0, std::string detail = {}) {
  port::reply made;
  made.fault = fault;
  made.sent = fault >= port::fault::cancelled && fault != port::fault::overloaded;
  made.head_seen = fault >= port::fault::bad_status || fault == port::fault::deadline_after_head;
  made.status = status;
  made.detail = std::move(detail);
  return made;
}

inline boost::asio::awaitable<void> until_interrupted(async::worker& on, async::interrupt& interrupt) {
  boost::asio::steady_timer timer(on.io, std::chrono::seconds(10));
  const async::interrupt::guard guard(
      interrupt, [](void* waiting) { static_cast<boost::asio::steady_timer*>(waiting)->cancel(); }, &timer);
  error_code ignored;
  co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
}

class fake_upstream final : public port::upstream {
 public:
  /// Called with the interrupt before each answer, for instance to cancel.
  std::function<void(async::interrupt&)> before_answer;
  /// What the upstream sends before its answers.
  std::vector<std::string> notifications;

  void answer(port::reply next) { script_.push_back(std::move(next)); }
  void answer(std::string_view text) { answer(reply_of(text)); }
  /// The next call shows these signs of life, so far apart, before it is answered.
  std::vector<async::interrupt::sign> signs;
  duration between_signs{};

  /// The next call is not answered: it ends when it is interrupted.
  void hang() { script_.push_back(std::nullopt); }

  /// What the server asks of the client before its answers, and what it heard.
  std::vector<std::string> questions, heard;
  /// The era of its answers.
  protocol::era speaks = protocol::era::legacy;

  struct seen_call {
    std::string text, tool, arguments, input_responses, request_state, mirrored, credential;
  };
  const std::vector<seen_call>& calls() const { return calls_; }

  boost::asio::awaitable<port::reply> call(async::worker& on, port::outgoing_request request,
                                           async::interrupt& interrupt, port::client_side* client) override {
    calls_.push_back({std::string(request.text), std::string(request.target),
                      std::string(request.seen->arguments.in(request.text)), std::string(request.input_responses),
                      std::string(request.request_state), std::string(request.mirrored),
                      std::string(request.credential)});
    co_await boost::asio::post(on.io, boost::asio::use_awaitable);
    if (client != nullptr) {
      for (const std::string& text : notifications) {
        buffer padded;
        padded.append(text);
        protocol::scratch space;
        const auto seen = protocol::peek(padded.view(), space);
        client->take(padded.view(), *seen);
      }
      co_await client->flush();
    }
    for (const std::string& text : questions) {
      buffer padded;
      padded.append(text);
      protocol::scratch space;
      const auto seen = protocol::peek(padded.view(), space);
      async::interrupt until(on.timers);
      heard.push_back(client == nullptr ? std::string() : co_await client->ask(padded.view(), *seen, until));
    }
    if (before_answer) before_answer(interrupt);
    for (const async::interrupt::sign each : std::exchange(signs, {})) {
      interrupt.heard(each);
      boost::asio::steady_timer pause(on.io, between_signs);
      co_await async::wait(pause, interrupt);
    }
    std::optional<port::reply> next;
    if (!script_.empty()) {
      next = std::move(script_.front());
      script_.pop_front();
    }
    if (next) next->era = speaks;
    if (next && !interrupt.raised()) co_return std::move(*next);
    if (!interrupt.raised()) co_await until_interrupted(on, interrupt);
    co_return reply_of(interrupt.why() == async::interrupt::reason::deadline ? port::fault::deadline
                                                                             : port::fault::cancelled);
  }

  bool forwards_credentials = false;

  port::upstream_status status() const override { return {}; }
  bool forwards() const override { return forwards_credentials; }
  protocol::era era() const override { return speaks; }

 private:
  std::deque<std::optional<port::reply>> script_;
  std::vector<seen_call> calls_;
};

}  // namespace switchgear::test
