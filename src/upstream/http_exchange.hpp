// One HTTP request to an upstream and what comes back, whatever form the server chose for it.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "base/parts.hpp"
#include "http/chunks.hpp"
#include "http/head.hpp"
#include "port/settings.hpp"
#include "port/upstream.hpp"
#include "protocol/sse.hpp"
#include "upstream/connection_pool.hpp"
#include "upstream/stream.hpp"

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace switchgear::upstream {

/// Where an upstream is and how to reach it. Shared by its workers, never changed.
struct http_endpoint {
  url address;
  std::unique_ptr<tls_context> tls;  ///< null for http
  duration connect_timeout;
  std::size_t max_answer;
};

struct http_request {
  std::string_view head;  ///< everything up to the number of Content-Length
  parts body;
  std::string_view id;  ///< the raw id that the response must carry; empty: a notification, any 2xx is its answer
};

struct http_reply {
  port::reply reply;
  std::string session_id;  ///< Mcp-Session-Id of the response
};

/// Sends one request and reads its answer: JSON or an event stream, with a length, chunked or until the end.
/// Made for one exchange, on one worker; must stay where it is until run() has ended.
class http_exchange {
 public:
  http_exchange(async::worker& on, const http_endpoint& endpoint, connection_pool& pool, async::interrupt& interrupt,
                port::client_side* client)
      : on_(on),
        endpoint_(endpoint),
        pool_(pool),
        interrupt_(interrupt),
        client_(client),
        events_(endpoint.max_answer, &on.buffers) {}

  /// Every way to end is a reply. A request that a kept connection did not take (the peer closed it before a byte
  /// could be written) goes out on a new one.
  boost::asio::awaitable<void> run(const http_request& request, http_reply& out);

 private:
  boost::asio::awaitable<bool> connect(port::reply& reply);
  boost::asio::awaitable<bool> send(const http_request& request, port::reply& reply);
  boost::asio::awaitable<bool> read_head(http_reply& out);
  boost::asio::awaitable<bool> fill(port::reply& reply);
  boost::asio::awaitable<bool> read_whole_body(port::reply& reply, std::size_t limit);
  boost::asio::awaitable<void> read_json(const http_request& request, port::reply& reply);
  boost::asio::awaitable<void> read_events(const http_request& request, port::reply& reply);
  boost::asio::awaitable<void> read_failure(const http_request& request, port::reply& reply);

  void fail(port::reply& reply, error_code why);
  void take_message(const http_request& request, port::reply& reply);
  void accept(const protocol::message& seen, port::reply& reply);
  bool decode_new(std::size_t from, port::reply& reply);
  void take_type(const http::response_head& head);
  std::string page() const;
  void finish();

  async::worker& on_;
  const http_endpoint& endpoint_;
  connection_pool& pool_;
  async::interrupt& interrupt_;
  port::client_side* client_;

  std::unique_ptr<stream> connection_;
  buffer received_;  // after the head: payload of the body only
  http::framing framing_;
  http::chunk_reader chunks_;
  int status_ = 0;
  std::string_view media_type_;  // a constant, or other_type_
  std::string other_type_;
  protocol::sse_reader events_;
  protocol::scratch space_;
  std::uint64_t body_read_ = 0;  // payload bytes so far, whether still held or not
  bool body_done_ = false;
  bool reusable_ = true;
};

}  // namespace switchgear::upstream
