// Seam: a configured tool server, whatever its transport.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "base/buffer.hpp"
#include "base/time.hpp"
#include "protocol/message.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace switchgear::port {

/// How a call to an upstream ended when it did not bring a JSON-RPC response. `none`: it did.
/// The order groups them: what never reached the upstream, what did, what came back but is no answer.
enum class fault : std::uint8_t {
  none,
  not_ready,       ///< the upstream has no session: its handshake keeps failing; nothing was sent
  resolve_failed,  ///< the host name has no address; nothing was sent
  connect_failed,  ///< refused or unreachable; nothing was sent
  tls_failed,      ///< handshake or certificate refused; nothing was sent
  start_failed,    ///< the child process could not be started; nothing was sent
  deadline_before_send,
  cancelled,            ///< by the client or by our shutdown; `sent` says whether the upstream may know of the call
  deadline,             ///< sent, and nothing came back in time
  deadline_after_head,  ///< a response head, progress or keep-alive came, the answer did not in time
  lost,                 ///< the connection or child ended after bytes were sent: the outcome is unknown
  session_lost,         ///< the upstream forgot our session and a new one did not help
  bad_status,           ///< an HTTP status that is no success; `status` has it
  bad_media_type,       ///< neither JSON nor an event stream
  bad_message,          ///< not JSON-RPC, or a response to something else, or a stream that ended without one
  too_large,            ///< more than the configured limit
  overloaded,           ///< every allowed connection is in use; nothing was sent
};

/// What came of a call. Owns the bytes that `message` points into.
struct reply {
  port::fault fault = port::fault::none;
  bool sent = false;                    ///< a byte of the request may have reached the upstream
  bool head_seen = false;               ///< something came back: response head, progress, keep-alive
  int status = 0;                       ///< HTTP status, 0 on stdio
  std::optional<duration> retry_after;  ///< from Retry-After, if it was a valid one
  buffer body;                          ///< the JSON-RPC response (or error) of the upstream, if any came
  protocol::message message;            ///< of body, valid when has_message, but for its unescaped views
  bool has_message = false;             ///< also true for a JSON-RPC error under a failing HTTP status
  std::string detail;                   ///< for people: which address, what happened, at most 300 characters of a body
};

/// Takes the notifications that an upstream sends about a call, before its response.
class notification_sink {
 public:
  /// Keeps what it needs of it: `text` is gone afterwards. Its progress token is the gateway's own, not the client's.
  virtual void take(std::string_view text, const protocol::message& seen) = 0;
  /// Passes on what was taken. The upstream asks for it before it waits for more: what came together goes out together.
  virtual boost::asio::awaitable<void> flush() = 0;

 protected:
  ~notification_sink() = default;
};

/// A tools/call as it goes out.
struct outgoing_call {
  std::string_view text;          ///< whole JSON-RPC request, followed by buffer::padding readable bytes
  const protocol::message* seen;  ///< of text
  std::string_view tool;          ///< the upstream's own name of the tool, unescaped; put in place of params.name
};

enum class upstream_state : std::uint8_t { starting, ready, degraded };

struct upstream_status {
  upstream_state state = upstream_state::starting;
  std::string reason;  ///< why degraded, one line; empty when ready
  std::string protocol_version;
  std::string server_name;
};

class upstream {
 public:
  virtual ~upstream() = default;

  /// Sends one call and waits for its response. The id and the progress token that the upstream sees are ours.
  /// Ends by `interrupt`'s deadline at the latest; every way to end is a reply. Runs on `on`'s thread, may be called on
  /// any worker. `sink` may be null.
  virtual boost::asio::awaitable<reply> call(async::worker& on, outgoing_call call, async::interrupt& interrupt,
                                             notification_sink* sink) = 0;

  /// Thread-safe copy of how the upstream is.
  virtual upstream_status status() const = 0;
};

}  // namespace switchgear::port
