// Seam: listen hands a client's request to call, without either knowing the other.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "base/buffer.hpp"
#include "base/parts.hpp"
#include "base/time.hpp"
#include "port/client.hpp"
#include "protocol/message.hpp"

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace switchgear::port {

/// A request that a client sent and that one upstream has to answer: tools/call, prompts/get, resources/read,
/// completion/complete, resources/subscribe, resources/unsubscribe. Everything lives until the handler's awaitable has
/// completed.
struct incoming_call {
  std::string_view text;          ///< whole request, followed by buffer::padding readable bytes
  const protocol::message* seen;  ///< of text
  port::client client;            ///< who asks
  time_point arrived;
};

/// The answer: pieces that point into the incoming text and into what the answer owns. Not movable once filled.
struct answer {
  parts pieces;                               ///< a complete JSON-RPC response with the client's id
  buffer body;                                ///< the upstream's bytes, when they are passed on
  std::string text, state;                    ///< what we wrote ourselves
  std::shared_ptr<const std::string> shared;  ///< a stored answer
  bool degraded = false;                      ///< not from the primary
  int status = 200;                           ///< HTTP status that the answer wants, of a modern client's request only
  unsigned retry_after = 0;                   ///< of a failure: seconds for Retry-After, where there is a head; 0: none

  answer() = default;
  answer(const answer&) = delete;
  answer& operator=(const answer&) = delete;
};

/// Takes messages for the client that come before the answer. A client that takes no events has none.
class event_sink {
 public:
  /// A whole JSON-RPC message. Keeps a copy.
  virtual void add(parts message) = 0;
  /// Sends what was added; returns when the client's socket has taken it, or when the client is gone.
  virtual boost::asio::awaitable<void> flush() = 0;
  /// As client_side::ask: sends the server's request to the client under an id of our own, before anything that is
  /// added later, and waits for the client's response.
  virtual boost::asio::awaitable<std::string> ask(std::string_view text, const protocol::message& seen,
                                                  async::interrupt& until) = 0;
  /// The server has ended its stream and will give the answer to whoever comes back for it: so may we, where the client
  /// knows how to come back. Returns at once; what is added later is kept for the client.
  virtual void let_go() {}

 protected:
  ~event_sink() = default;
};

class call_handler {
 public:
  virtual ~call_handler() = default;

  /// Answers one request: always exactly one answer in the client's era, by the call's deadline, whatever happens. The
  /// handler arms `interrupt` with the deadline; others may interrupt it (client cancel, shutdown). Notifications for
  /// the client go to `client` with the client's own progress token; may be null.
  virtual boost::asio::awaitable<void> call(async::worker& on, const incoming_call& call, async::interrupt& interrupt,
                                            event_sink* client, answer& out) = 0;
};

}  // namespace switchgear::port
