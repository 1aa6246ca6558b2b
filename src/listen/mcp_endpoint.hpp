// One HTTP request of a client at the MCP endpoint: is it one we accept, what does it ask, what is the answer.
// Source: MCP 2025-11-25 basic/transports, basic/lifecycle, server/tools; JSON-RPC 2.0.
#pragma once

#include "http/head.hpp"
#include "listen/client_stream.hpp"
#include "listen/shard.hpp"
#include "protocol/message.hpp"

#include <boost/asio/awaitable.hpp>

#include <string_view>

namespace switchgear::listen {

/// A reply that needs nothing but its head: why the request is refused before its body is read.
struct refused_head {
  int status = 0;  ///< 0: not refused
  std::int64_t code = 0;
  std::string_view message;
  std::string_view fields;  ///< extra header lines
  port::refusal kind = port::refusal::bad_request;
};

/// Made for one request; what it refers to must outlive it.
class mcp_endpoint {
 public:
  mcp_endpoint(shard& here, client_stream& client, const http::request_head& head, bool keep_alive)
      : here_(here), client_(client), head_(head), keep_alive_(keep_alive) {}

  /// Checks that need no body: path, Host, Origin, method, Accept, Content-Type, length, version.
  static refused_head check(const http::request_head& head, const port::listen_settings& settings);

  /// Answers the request; `body` is followed by buffer::padding readable bytes. False: the connection is of no more
  /// use.
  boost::asio::awaitable<bool> post(std::string_view body, time_point arrived);
  boost::asio::awaitable<bool> end_session();

  /// An error with a JSON-RPC body; `id` raw.
  boost::asio::awaitable<bool> refuse(const refused_head& why, std::string_view id);

 private:
  boost::asio::awaitable<bool> initialize(std::string_view body, const protocol::message& seen, time_point now);
  boost::asio::awaitable<bool> request(std::string_view body, const protocol::message& seen, time_point arrived);
  boost::asio::awaitable<bool> call_tool(std::string_view body, const protocol::message& seen, time_point arrived);
  boost::asio::awaitable<bool> notification(std::string_view body, const protocol::message& seen);
  boost::asio::awaitable<bool> accept_silently();

  /// The connection may go on after this answer.
  bool keeps() const { return keep_alive_ && !here_.draining; }

  /// Writes a response with a JSON body; status 200 unless told otherwise.
  boost::asio::awaitable<bool> reply(parts body, std::string_view status = "200 OK", std::string_view fields = {});

  shard& here_;
  client_stream& client_;
  const http::request_head& head_;
  bool keep_alive_;
};

}  // namespace switchgear::listen
