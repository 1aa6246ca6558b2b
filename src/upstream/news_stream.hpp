// What a server says outside any request of ours: the GET stream of a legacy session, subscriptions/listen of a modern
// server. Source: MCP 2025-11-25 basic/transports "Listening for Messages"; 2026-07-28 subscriptions/listen.
#pragma once

#include "upstream/asked_requests.hpp"
#include "upstream/http_exchange.hpp"
#include "upstream/latest_credential.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace switchgear::upstream {

/// Opens the stream and, when it ends, opens it again after a pause: the server's own, or one that grows while it does
/// not come to be. A server that has no such stream is left in peace. On one worker.
class news_stream {
 public:
  /// Outlives the stream. list_changed() is also called when something may have been missed.
  class listener : public exchange_session {
   public:
    virtual void notified(std::string_view text, const protocol::message& seen) = 0;
    /// The server has said that from now on it tells what it was asked for. `again`: it had said so before.
    virtual void acknowledged(bool /*again*/) {}
    virtual boost::asio::awaitable<std::string> asked(std::string_view text, const protocol::message& seen,
                                                      async::interrupt& until) = 0;

   protected:
    ~listener() = default;
  };

  /// The request that opens the stream.
  struct opening {
    std::string head, fields, body;
    std::string id;  ///< raw, of the request in `body`; empty: none, and the stream can go on where it was cut
    const latest_credential* credential = nullptr;  ///< outlives the stream; a refused one is not tried again
  };

  news_stream(async::worker& on, const http_endpoint& endpoint, connection_pool& pool, opening request,
              listener& owner);

  /// Ends after stop(), or when the server has no such stream. Both must outlive it.
  boost::asio::awaitable<void> run();
  void stop();

  /// What a server says of its own accord, to whom it concerns. Responses concern nobody.
  static void hear(std::string_view text, const protocol::message& seen, asked_requests& asked, listener& owner);

 private:
  enum class ending : std::uint8_t { refused, denied, broken, done };

  boost::asio::awaitable<ending> read_once();
  boost::asio::awaitable<ending> read_events(http_transfer& transfer);
  bool take(std::string_view text);
  boost::asio::awaitable<void> pause(duration length);
  boost::asio::awaitable<void> wait_for_credential();

  async::worker& on_;
  const http_endpoint& endpoint_;
  connection_pool& pool_;
  const opening request_;
  listener& owner_;
  asked_requests asked_;
  std::shared_ptr<const std::string> as_;  // the credential that the stream was asked for with last
  std::optional<async::interrupt> limit_;
  boost::asio::steady_timer timer_;
  protocol::scratch space_;
  std::string last_event_;
  std::optional<std::uint32_t> retry_ms_;
  bool was_open_ = false;
  bool again_ = false;  // it was open before it was opened last
  bool heard_ = false;  // a message came since the stream was opened last
  bool stopped_ = false;
};

}  // namespace switchgear::upstream
