// What a server says between a request of ours and its response, message by message, whatever stream it comes on.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "port/upstream.hpp"
#include "upstream/asked_requests.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace switchgear::upstream {

/// The session that an exchange belongs to. On the exchange's worker; must not block.
class exchange_session {
 public:
  /// Sends a response to the server in the background. What becomes of it is no business of the exchange's.
  virtual void respond(std::string response) = 0;
  /// The server said that one of its lists is not what it was.
  virtual void list_changed() = 0;

 protected:
  ~exchange_session() = default;
};

/// Of one request, on its worker. Notifications go to the client, and so do requests, whose answers go back while the
/// conversation goes on. end() must be waited for before the destructor.
class conversation {
 public:
  /// `client` may be null: nothing but the response is of interest. `session` may be null: then nobody answers what the
  /// server asks.
  /// Progress is a sign of life for `interrupt`, which is the request's.
  conversation(async::worker& on, async::interrupt& interrupt, port::client_side* client, exchange_session* session)
      : on_(on), interrupt_(interrupt), client_(client), session_(session) {}

  /// Takes one message. The response to `id` (raw) goes to `reply`, progress is the request's if its token is `id`.
  /// False: it is no message, and `problem` says why.
  boost::asio::awaitable<bool> take(std::string_view id, std::string_view text, port::reply& reply,
                                    std::string& problem);
  /// Before a wait for more: what came goes out.
  boost::asio::awaitable<void> flush();
  /// As client_side::let_go.
  void let_go();
  boost::asio::awaitable<void> end();

 private:
  void take_notification(std::string_view id, std::string_view text, const protocol::message& seen);
  boost::asio::awaitable<void> take_request(std::string_view text, const protocol::message& seen);

  async::worker& on_;
  async::interrupt& interrupt_;
  port::client_side* client_;
  exchange_session* session_;
  std::optional<asked_requests> asked_;
  protocol::scratch space_;
};

/// Makes `seen`, a response that was read in `reply.body` or a copy of it, the reply's message.
void accept(const protocol::message& seen, port::reply& reply);

}  // namespace switchgear::upstream
