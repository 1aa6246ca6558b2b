// The answer to one HTTP request that fits into one response.
#pragma once

#include "http/head.hpp"
#include "listen/client_stream.hpp"
#include "listen/shard.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <string_view>

namespace switchgear::listen {

/// Why a request is refused, as HTTP and as JSON-RPC say it.
struct refused_request {
  int status = 0;  ///< 0: not refused
  std::int64_t code = 0;
  std::string_view message;
  std::string_view fields;  ///< extra header lines
  port::refusal kind = port::refusal::bad_request;
  std::string_view data;  ///< of the error, JSON; empty: none
};

/// Made for one request; what it refers to must outlive it. Every function says whether the connection may go on.
class http_reply {
 public:
  http_reply(shard& here, client_stream& client, const http::request_head& head, bool keep_alive)
      : here_(here), client_(client), is_http_1_0_(head.is_http_1_0), keep_alive_(keep_alive) {}

  /// A response with a JSON body. `fields`: extra header lines, at most 160 bytes.
  boost::asio::awaitable<bool> json(parts body, int status = 200, std::string_view fields = {});
  /// One without a body: 202 or 204.
  boost::asio::awaitable<bool> empty(int status);
  /// An error with a JSON-RPC body; `id` raw.
  boost::asio::awaitable<bool> refuse(const refused_request& why, std::string_view id);

  /// The connection may go on after this answer.
  bool keeps() const { return keep_alive_ && !here_.draining; }

 private:
  shard& here_;
  client_stream& client_;
  bool is_http_1_0_;
  bool keep_alive_;
};

}  // namespace switchgear::listen
