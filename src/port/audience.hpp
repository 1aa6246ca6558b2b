// Seam: clients' streams for messages that belong to none of their requests.
// Source: MCP 2025-11-25 basic/transports "Listening for Messages"; 2026-07-28 subscriptions/listen.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "port/offer.hpp"
#include "protocol/message.hpp"

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace switchgear::port {

/// Any thread, unless said otherwise. What a client's stream cannot take is dropped, never waited for.
class audience {
 public:
  /// From now on clients are offered this; those whose streams ask for it are told which lists changed.
  virtual void use(std::shared_ptr<const offer> fresh) = 0;

  /// A resource changed: told to every stream that asked for this URI, in the fleet. `uri` as clients know it.
  virtual void resource_updated(std::string_view uri) = 0;

  /// A whole notification for the client with this session, on its stream, wherever in the fleet that is.
  virtual void send(std::string_view session, std::string message) = 0;

  /// Asks the client with this session on its stream (not one of its requests), if it is here. As client_side::ask:
  /// always a whole response with the request's own id. On `on`'s thread; `text` must live until it has completed.
  virtual boost::asio::awaitable<std::string> ask(async::worker& on, std::string session, std::string_view text,
                                                  const protocol::message& seen, async::interrupt& until) = 0;

 protected:
  ~audience() = default;
};

}  // namespace switchgear::port
