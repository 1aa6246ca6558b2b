// One connection to an HTTP upstream, plain or TLS.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "base/parts.hpp"
#include "base/result.hpp"
#include "upstream/tls.hpp"
#include "upstream/url.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace switchgear::upstream {

/// Lives on one worker. Every wait ends with the interrupt; an interrupted stream must be thrown away.
class stream {
 public:
  explicit stream(async::worker& on);
  ~stream();
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  /// Resolves, connects and, with `tls`, shakes hands, all within `timeout`. Errors: resolve_failed, connect_failed,
  /// connect_timed_out, tls_failed, interrupted; `detail` gets the reason for people.
  boost::asio::awaitable<error_code> connect(const url& to, tls_context* tls, duration timeout,
                                             async::interrupt& interrupt, std::string& detail);

  /// Writes all pieces. Errors: interrupted, broken. `any_sent` becomes true as soon as a byte may have left; it stays
  /// false when the connection was dead before the first.
  boost::asio::awaitable<error_code> write(parts pieces, async::interrupt& interrupt, bool& any_sent);

  /// Reads at least one byte. Errors: end_of_stream, broken, interrupted.
  boost::asio::awaitable<result<std::size_t>> read_some(char* into, std::size_t size, async::interrupt& interrupt);

  /// True if the peer has closed an idle connection, or sent what nobody asked for.
  bool stale();

 private:
  bool holds_alert();

  struct tls_layer;

  boost::asio::awaitable<error_code> connect_tcp(const url& to, async::interrupt& interrupt, std::string& detail);
  static void cancel(void* self);

  async::worker& on_;
  boost::asio::ip::tcp::socket socket_;
  std::unique_ptr<tls_layer> tls_;
};

}  // namespace switchgear::upstream
