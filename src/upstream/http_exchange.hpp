// One message to an upstream over HTTP and what comes back, whatever form the server chose for it.
// Source: MCP 2025-11-25 and 2026-07-28 basic/transports, "Streamable HTTP".
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "port/upstream.hpp"
#include "protocol/sse.hpp"
#include "upstream/connection_pool.hpp"
#include "upstream/conversation.hpp"
#include "upstream/http_transfer.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace switchgear::upstream {

/// Sends one request and reads its answer: JSON or an event stream, with a length, chunked or until the end. A stream
/// that ends before the response, and has named its events, is asked for its rest until the deadline (MCP 2025-11-25).
/// Made for one exchange, on one worker; must stay where it is until run() has ended.
class http_exchange {
 public:
  /// `client` and `session` as for a conversation.
  http_exchange(async::worker& on, const http_endpoint& endpoint, connection_pool& pool, async::interrupt& interrupt,
                port::client_side* client, exchange_session* session = nullptr)
      : on_(on),
        endpoint_(endpoint),
        pool_(pool),
        interrupt_(interrupt),
        conversation_(on, interrupt, client, session) {}

  /// Every way to end is a reply.
  boost::asio::awaitable<void> run(const http_request& request, http_reply& out);

 private:
  enum class ending : std::uint8_t { answered, failed, cut };

  boost::asio::awaitable<void> read_answer(const http_request& request, port::reply& reply);
  boost::asio::awaitable<void> read_stream(const http_request& request, port::reply& reply);
  boost::asio::awaitable<ending> read_events(std::string_view id, port::reply& reply);
  boost::asio::awaitable<void> pause(duration length);
  boost::asio::awaitable<bool> ask_for_rest(const http_request& request, port::reply& reply, duration wait);
  boost::asio::awaitable<void> read_failure(const http_request& request, port::reply& reply);
  void take_message(std::string_view id, port::reply& reply);

  async::worker& on_;
  const http_endpoint& endpoint_;
  connection_pool& pool_;
  async::interrupt& interrupt_;
  conversation conversation_;

  std::optional<http_transfer> transfer_;
  std::optional<protocol::sse_reader> events_;
  std::string last_event_;  // the newest id of an event, over all parts of the stream
  protocol::scratch space_;
};

}  // namespace switchgear::upstream
