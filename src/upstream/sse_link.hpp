// The one event stream of a session with a server of the first revision: it names where messages are posted, and every
// response of the session comes on it. Source: MCP 2024-11-05 basic/transports, "HTTP with SSE".
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "upstream/http_exchange.hpp"
#include "upstream/news_stream.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace switchgear::upstream {

/// Where the messages of one request arrive, on the worker of its call.
class sse_mailbox : public std::enable_shared_from_this<sse_mailbox> {
 public:
  explicit sse_mailbox(async::worker& on) : on_(on), arrived_(on.io, boost::asio::steady_timer::time_point::max()) {}

  /// On the call's worker. The next message; nothing when the stream has ended or `interrupt` was raised.
  boost::asio::awaitable<std::optional<std::string>> next(async::interrupt& interrupt);

  /// On any thread.
  void put(std::string text, bool is_response);
  void close();

 private:
  // A client that reads slowly must not make us keep what a server tells it without end.
  static constexpr std::size_t most_waiting = 1000;

  async::worker& on_;
  std::deque<std::string> waiting_;
  bool closed_ = false;
  boost::asio::steady_timer arrived_;
};

/// Lives on the control worker; enter() and leave() may be called on any thread. Not opened again: a stream that ends
/// is the end of its session.
class sse_link : public std::enable_shared_from_this<sse_link> {
 public:
  sse_link(async::worker& control, const http_endpoint& endpoint, connection_pool& pool, std::string get_head);

  /// Opens the stream and reads it to its end, or until stop().
  boost::asio::awaitable<void> run();
  /// Waits for the address to post to, `timeout` at most. Empty, with `why`, if there is none.
  boost::asio::awaitable<std::string> address(duration timeout, std::string& why);
  /// Of the answer to the request for the stream; 0: there was none so far.
  int status() const { return status_; }
  void stop();
  bool ended() const { return ended_; }

  /// What belongs to no request goes to `listener`, until stop(); `on_end` is told when the stream is over.
  void attach(news_stream::listener* listener, std::function<void()> on_end);

  /// The messages for request `id` go to `box` from now on. `takes_requests`: also those that the server asks of a
  /// client.
  void enter(std::string id, std::shared_ptr<sse_mailbox> box, bool takes_requests);
  void leave(std::string id);

 private:
  struct caller {
    std::shared_ptr<sse_mailbox> box;
    bool takes_requests;
    std::uint64_t order;
  };

  boost::asio::awaitable<void> read();
  boost::asio::awaitable<std::string> answer(std::string_view text, const protocol::message& seen,
                                             async::interrupt& until);
  void take_address(std::string_view text);
  void take(std::string_view text);
  caller* caller_for(std::string_view text, const protocol::message& seen);
  void end();

  async::worker& on_;
  const http_endpoint& endpoint_;
  connection_pool& pool_;
  const std::string get_head_;
  async::interrupt limit_;
  boost::asio::steady_timer opened_;
  std::string target_;
  std::string problem_;
  int status_ = 0;
  bool ended_ = false;

  std::map<std::string, caller, std::less<>> callers_;
  std::uint64_t entered_ = 0;
  news_stream::listener* listener_ = nullptr;
  std::function<void()> on_end_;
  std::optional<asked_requests> asked_;
  protocol::scratch space_;
};

/// One request over a link: as http_exchange, for such a session.
class sse_exchange {
 public:
  sse_exchange(async::worker& on, const http_endpoint& endpoint, connection_pool& pool, async::interrupt& interrupt,
               port::client_side* client, exchange_session* session)
      : on_(on), endpoint_(endpoint), pool_(pool), interrupt_(interrupt), client_(client), session_(session) {}

  boost::asio::awaitable<void> run(sse_link& link, const http_request& request, http_reply& out);

 private:
  boost::asio::awaitable<void> read_answer(sse_mailbox& box, std::string_view id, port::reply& reply);

  async::worker& on_;
  const http_endpoint& endpoint_;
  connection_pool& pool_;
  async::interrupt& interrupt_;
  port::client_side* client_;
  exchange_session* session_;
};

}  // namespace switchgear::upstream
