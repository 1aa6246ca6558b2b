// One HTTP request on one connection, and the bytes that come back: framing, limits, redirects. What the bytes mean is
// for others.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "base/parts.hpp"
#include "http/chunks.hpp"
#include "http/head.hpp"
#include "http/inflate.hpp"
#include "port/upstream.hpp"
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

/// The views live until the request has ended.
struct http_request {
  std::string_view head;    ///< request line and fields, each with its line end; without Content-Length
  std::string_view fields;  ///< more fields, of this request only; each with its line end
  parts body;
  std::string_view id;         ///< the raw id that the response must carry; empty: any 2xx is the answer
  std::string_view rest_head;  ///< as head, of the GET that asks for the rest of a stream; empty: there is no rest
  std::string_view credential = {};  ///< as fields, of that GET as well
  bool may_redirect = true;          ///< one redirect within the host is followed
};

struct http_reply {
  port::reply reply;
  std::string session_id;   ///< Mcp-Session-Id of the response
  bool challenged = false;  ///< it asks for credentials (WWW-Authenticate)
};

inline constexpr std::string_view json_type = "application/json";
inline constexpr std::string_view events_type = "text/event-stream";
inline constexpr std::size_t most_failure_body = 64 * 1024;

/// Made for one request, on one worker; must stay where it is. The destructor gives back or closes the connection.
class http_transfer {
 public:
  http_transfer(async::worker& on, const http_endpoint& endpoint, connection_pool& pool, async::interrupt& interrupt)
      : on_(on), endpoint_(endpoint), pool_(pool), interrupt_(interrupt) {}
  ~http_transfer();
  http_transfer(const http_transfer&) = delete;
  http_transfer& operator=(const http_transfer&) = delete;

  /// Sends the request and reads the head of the response; false: there is none, and `out` says why. A kept connection
  /// that the peer closed before a byte could be written is replaced by a new one; one redirect is followed.
  boost::asio::awaitable<bool> begin(const http_request& request, http_reply& out);

  /// Of the response.
  int status() const { return status_; }
  std::string_view media_type() const { return media_type_; }
  /// What came, for people: "HTTP 200 text/html".
  std::string page() const;

  /// Payload that has come and was not taken.
  buffer& payload() { return received_; }
  bool done() const { return body_done_; }
  /// Reads more payload. False: it broke, and `reply` says how; the end of a body is no break.
  boost::asio::awaitable<bool> fill(port::reply& reply);
  /// Reads the whole body into payload().
  /// `is_answer`: each piece of it is a sign of life for the interrupt.
  boost::asio::awaitable<bool> read_whole(port::reply& reply, std::size_t limit, bool is_answer = false);

  /// Says that the rest of the body is of no interest: it is read in the background if it is short, so that the
  /// connection can be used again. Without it a body that is not done costs the connection.
  void finish();

  /// Writes `why` into `reply` as the fault that it is at this moment.
  void fail(port::reply& reply, error_code why) const;

 private:
  boost::asio::awaitable<bool> connect(port::reply& reply);
  boost::asio::awaitable<bool> send(std::string_view head, const http_request& request, port::reply& reply);
  boost::asio::awaitable<bool> read_head(http_reply& out);
  boost::asio::awaitable<bool> follow_redirect(const http_request& request, http_reply& out);
  void take_head(const http::response_head& head, http_reply& out);
  void take_type(const http::response_head& head);
  bool decode_new(std::size_t from, port::reply& reply);
  bool inflate_new(std::size_t from, port::reply& reply);
  void reset();

  async::worker& on_;
  const http_endpoint& endpoint_;
  connection_pool& pool_;
  async::interrupt& interrupt_;

  std::unique_ptr<stream> connection_;
  buffer received_;  // after the head: payload of the body only
  http::framing framing_;
  http::chunk_reader chunks_;
  std::unique_ptr<http::inflater> inflater_;  // of a body that is compressed
  int status_ = 0;
  std::string_view media_type_;  // a constant, or other_type_
  std::string other_type_;
  std::string location_;
  std::uint64_t body_read_ = 0;  // payload bytes so far, whether still held or not
  bool body_done_ = false;
  bool reusable_ = true;
};

/// At most 300 bytes of what a peer wrote, on one line.
std::string shown(std::string_view body);

}  // namespace switchgear::upstream
