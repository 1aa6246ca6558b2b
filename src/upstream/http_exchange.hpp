// One message to an upstream over HTTP and what comes back, whatever form the server chose for it.
// Source: MCP 2025-11-25 and 2026-07-28 basic/transports, "Streamable HTTP".
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "port/upstream.hpp"
#include "protocol/sse.hpp"
#include "upstream/asked_requests.hpp"
#include "upstream/connection_pool.hpp"
#include "upstream/http_transfer.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace switchgear::upstream {

/// The session that an exchange belongs to. On the exchange's worker; must not block.
class exchange_session {
 public:
  /// Sends a response to the server in the background. What becomes of it is no business of the exchange's.
  virtual void respond(std::string response) = 0;
  /// The server said that one of its lists is not what it was.
  virtual void list_changed() = 0;

 protected:
  ~exchange_session() = default;
};

/// Sends one request and reads its answer: JSON or an event stream, with a length, chunked or until the end. A stream
/// that ends before the response, and has named its events, is asked for its rest until the deadline (MCP 2025-11-25).
/// Made for one exchange, on one worker; must stay where it is until run() has ended.
class http_exchange {
 public:
  /// `client` may be null: nothing but the response is passed on. `session` may be null: then nobody answers what the
  /// server asks.
  http_exchange(async::worker& on, const http_endpoint& endpoint, connection_pool& pool, async::interrupt& interrupt,
                port::client_side* client, exchange_session* session = nullptr)
      : on_(on), endpoint_(endpoint), pool_(pool), interrupt_(interrupt), client_(client), session_(session) {}

  /// Every way to end is a reply.
  boost::asio::awaitable<void> run(const http_request& request, http_reply& out);

 private:
  enum class ending : std::uint8_t { answered, failed, cut };

  boost::asio::awaitable<void> read_answer(const http_request& request, port::reply& reply);
  boost::asio::awaitable<void> read_stream(const http_request& request, port::reply& reply);
  boost::asio::awaitable<ending> read_events(std::string_view id, port::reply& reply);
  boost::asio::awaitable<void> pause(duration length);
  boost::asio::awaitable<bool> ask_for_rest(const http_request& request, port::reply& reply, duration wait);
  boost::asio::awaitable<bool> take_event(std::string_view id, std::string_view text, port::reply& reply);
  boost::asio::awaitable<void> take_request(std::string_view text, const protocol::message& seen);
  boost::asio::awaitable<std::string> ask_client(std::string_view text, const protocol::message& seen,
                                                 async::interrupt& until);
  void take_notification(std::string_view text, const protocol::message& seen);
  boost::asio::awaitable<void> read_failure(const http_request& request, port::reply& reply);
  void take_message(std::string_view id, port::reply& reply);
  static void accept(const protocol::message& seen, port::reply& reply);

  async::worker& on_;
  const http_endpoint& endpoint_;
  connection_pool& pool_;
  async::interrupt& interrupt_;
  port::client_side* client_;
  exchange_session* session_;

  std::optional<http_transfer> transfer_;
  std::optional<protocol::sse_reader> events_;
  std::string last_event_;  // the newest id of an event, over all parts of the stream
  std::optional<asked_requests> asked_;
  protocol::scratch space_;
};

}  // namespace switchgear::upstream
