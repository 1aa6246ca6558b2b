// One HTTP request of a client at the MCP endpoint: is it one we accept, of which era, and how does its answer go out.
// Source: MCP 2025-11-25 basic/transports, basic/lifecycle; 2026-07-28 basic/transports/streamable-http,
// basic/versioning.
#pragma once

#include "http/head.hpp"
#include "listen/client_stream.hpp"
#include "listen/dispatch.hpp"
#include "listen/http_reply.hpp"
#include "listen/shard.hpp"
#include "protocol/message.hpp"

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace switchgear::listen {

/// Made for one request; what it refers to must outlive it. The functions that answer say whether the connection may go
/// on.
class mcp_endpoint {
 public:
  /// `head_text` is the whole head that `head` was read from. `principal`: who calls. `is_last`: nothing of another
  /// request has come yet.
  mcp_endpoint(shard& here, client_stream& client, const http::request_head& head, std::string_view head_text,
               std::string_view principal, bool is_last)
      : here_(here),
        client_(client),
        head_(head),
        head_text_(head_text),
        principal_(principal),
        is_last_(is_last),
        reply_(here, client, head, head.framing.keep_alive) {}

  /// Checks that need no body: path, Host, Origin, method, Accept, Content-Type, length.
  static refused_request check(const http::request_head& head, const port::listen_settings& settings);

  /// Answers a POST; `body` is followed by buffer::padding readable bytes.
  boost::asio::awaitable<bool> post(std::string_view body, time_point arrived);
  /// Answers a DELETE.
  boost::asio::awaitable<bool> end_session();
  /// The session of a GET that may be served; null: refused, and `keep` says whether the connection may go on.
  boost::asio::awaitable<std::shared_ptr<session>> session_of_stream(bool& keep);

  http_reply& reply() { return reply_; }

 private:
  boost::asio::awaitable<std::shared_ptr<session>> find_session(std::string_view id, bool& keep);
  boost::asio::awaitable<bool> modern(const incoming& came);
  boost::asio::awaitable<bool> legacy(const incoming& came);
  boost::asio::awaitable<bool> initialize(const incoming& came);
  boost::asio::awaitable<bool> batch(std::string_view body, time_point arrived);
  boost::asio::awaitable<bool> answer(const incoming& asked, const sender& from);
  static void serve_on(void* self, boost::asio::ip::tcp::socket socket);

  bool takes_events() const { return (head_.accepts_sse || !head_.has_accept) && !head_.is_http_1_0; }
  bool takes_json() const { return head_.accepts_json || !head_.has_accept; }

  shard& here_;
  client_stream& client_;
  const http::request_head& head_;
  std::string_view head_text_;
  std::string_view principal_;
  bool is_last_;
  http_reply reply_;
};

/// The answer that the client of a stream comes back for, by the id of that stream's first event. The connection is of
/// no more use afterwards.
boost::asio::awaitable<void> serve_parked(shard& here, client_stream& client, std::shared_ptr<session> of,
                                          std::string id);

/// The stream of a legacy session, until either side ends it. The connection is of no more use afterwards.
boost::asio::awaitable<void> serve_stream(shard& here, client_stream& client, std::shared_ptr<session> of);

}  // namespace switchgear::listen
