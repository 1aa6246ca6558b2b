// Seam: the client behind a request, as its upstream may know it and talk back to it.
#pragma once

#include "async/interrupt.hpp"
#include "protocol/abilities.hpp"
#include "protocol/message.hpp"
#include "protocol/version.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <string_view>

namespace switchgear::port {

/// Who asks. The views live as long as the request.
struct client {
  protocol::era era = protocol::era::legacy;
  std::string_view session;              ///< of a legacy client; a modern one has none
  std::string_view principal;            ///< "" is the anonymous one
  protocol::client_abilities abilities;  ///< what servers may ask of it
  std::string_view log_level;            ///< raw JSON string; empty: the client named none
  std::string_view head;                 ///< the HTTP head that the request came with, or ""

  /// A legacy server must have been told of these at the beginning of a session, so such a client needs one of its own.
  bool needs_own_session() const { return era == protocol::era::legacy && !session.empty() && abilities.any(); }
};

/// Takes what an upstream says before its response. Lives as long as the request; on the request's worker.
class client_side {
 public:
  /// A notification that belongs to the request. Keeps what it needs of it: `text` is gone afterwards. Its progress
  /// token is the gateway's own, not the client's.
  virtual void take(std::string_view text, const protocol::message& seen) = 0;

  /// Passes on what was taken. The upstream asks for it before it waits for more: what came together goes out together.
  virtual boost::asio::awaitable<void> flush() = 0;

  /// Asks the client what a server wants to know of it (sampling, elicitation, roots, ping). Always gives a whole
  /// JSON-RPC response with the request's own id: the client's, or an error that says why there is none (it cannot be
  /// asked, it has gone, `until` was raised, the server took its request back). Several may be under way at once.
  /// `text` and `seen` must live until it has completed.
  virtual boost::asio::awaitable<std::string> ask(std::string_view text, const protocol::message& seen,
                                                  async::interrupt& until) = 0;

  /// As event_sink::let_go: the server has ended its stream and is polled for the response from now on.
  virtual void let_go() {}

 protected:
  ~client_side() = default;
};

}  // namespace switchgear::port
