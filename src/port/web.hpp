// Seam: plain HTTP endpoints, which http steps of the cascade ask instead of a tool.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "port/upstream.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <string_view>

namespace switchgear::port {

/// The views live until the request has ended.
struct web_request {
  std::string_view method;  ///< GET, POST or PUT
  std::string_view target;  ///< path and query, percent-encoded
  std::string_view fields;  ///< header lines of the request's own, each with its line end
  std::string_view body;    ///< JSON; not sent with GET
};

struct web_reply {
  /// As of an upstream's call, but without a message: a 2xx answer is fault::none with its `body`, any other status is
  /// bad_status. The detail says what came, at most 300 characters of it.
  port::reply reply;
  std::string media_type;  ///< Content-Type as it came, with its parameters
};

/// One scheme, host and port.
class web_origin {
 public:
  /// Sends one request and waits for its answer, until `interrupt`'s deadline at the latest. Follows no redirect. Runs
  /// on `on`'s thread, may be called on any worker.
  virtual boost::asio::awaitable<web_reply> fetch(async::worker& on, web_request request,
                                                  async::interrupt& interrupt) = 0;

 protected:
  ~web_origin() = default;
};

class web {
 public:
  /// `url` is http://host[:port] or https://..., which config has checked. The same object for the same text, alive as
  /// long as this. Control thread, or before the workers run.
  virtual web_origin& origin(std::string_view url) = 0;

 protected:
  ~web() = default;
};

}  // namespace switchgear::port
