// The socket of one client, with a limit on every wait.
#pragma once

#include "async/worker.hpp"
#include "base/parts.hpp"
#include "base/result.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <cstddef>
#include <memory>

namespace switchgear::listen {

/// Lives on the worker that accepted it. After an error nothing more can be done with it but destroy it.
class client_stream {
  struct ear;

 public:
  client_stream(async::worker& on, boost::asio::ip::tcp::socket socket);
  ~client_stream();

  /// Reads at least one byte. Errors: closed; timed_out when `due` passes, after which the stream is still good.
  boost::asio::awaitable<result<std::size_t>> read_some(char* into, std::size_t size, time_point due);

  /// Completes when there is something to read, without holding memory for it. Errors: closed, timed_out.
  boost::asio::awaitable<error_code> wait_readable(time_point due);

  /// Writes all pieces; a client that takes nothing for `write_stall` is closed. Errors: closed, timed_out.
  boost::asio::awaitable<error_code> write(parts pieces);

  /// Writes what the socket takes at once, without waiting; the number of bytes taken, 0 also on errors.
  std::size_t write_now(std::string_view bytes);

  /// Ends our side and reads on for a moment, so that a client that is still sending gets to see our answer instead of
  /// a reset (RFC 9112 section 9.6).
  boost::asio::awaitable<void> linger();

  void close();

  /// The socket, for another stream; this one is closed from then on. Nobody may be reading or writing.
  boost::asio::ip::tcp::socket release();

  /// While it lives, `gone` is called once when the client closes or breaks the connection; not when it has sent more
  /// bytes before that, since nobody has read those yet. One at a time; not while the stream is being read.
  class watch {
   public:
    watch(client_stream& client, void (*gone)(void*), void* context);
    ~watch();
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;

   private:
    std::shared_ptr<ear> ear_;
  };

  static constexpr duration write_stall = std::chrono::seconds(30);

 private:
  async::worker& on_;
  boost::asio::ip::tcp::socket socket_;
  std::shared_ptr<ear> ear_;  // made when somebody first watches; its wait outlives the watch
};

}  // namespace switchgear::listen
