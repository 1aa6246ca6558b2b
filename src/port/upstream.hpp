// Seam: a configured tool server, whatever its transport.
#pragma once

#include "async/interrupt.hpp"
#include "async/worker.hpp"
#include "base/buffer.hpp"
#include "base/time.hpp"
#include "port/client.hpp"
#include "protocol/message.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace switchgear::port {

/// How a call to an upstream ended when it did not bring a JSON-RPC response. `none`: it did.
/// The order groups them: what never reached the upstream, what did, what came back but is no answer.
enum class fault : std::uint8_t {
  none,
  not_ready,          ///< the upstream has no session: its handshake keeps failing; nothing was sent
  resolve_failed,     ///< the host name has no address; nothing was sent
  connect_failed,     ///< refused or unreachable; nothing was sent
  connect_timed_out,  ///< no connection within the upstream's connect_timeout; nothing was sent
  tls_failed,         ///< handshake or certificate refused; nothing was sent
  start_failed,       ///< the child process could not be started; nothing was sent
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
  bool sent = false;                          ///< a byte of the request may have reached the upstream
  bool head_seen = false;                     ///< something came back: response head, progress, keep-alive
  int status = 0;                             ///< HTTP status, 0 on stdio
  std::optional<duration> retry_after;        ///< from Retry-After, if it was a valid one
  buffer body;                                ///< the JSON-RPC response (or error) of the upstream, if any came
  protocol::message message;                  ///< of body, valid when has_message, but for its unescaped views
  bool has_message = false;                   ///< also true for a JSON-RPC error under a failing HTTP status
  protocol::era era = protocol::era::legacy;  ///< in which the response is written
  std::string detail;  ///< for people: which address, what happened, at most 300 characters of a body
};

/// A request as it goes out.
struct outgoing_request {
  std::string_view text;          ///< whole JSON-RPC request, followed by buffer::padding readable bytes
  const protocol::message* seen;  ///< of text
  std::string_view target;    ///< the upstream's own name or URI, unescaped; put in place of the client's; empty: stays
  port::client client;        ///< who asks; the text is written in its era
  std::string_view mirrored;  ///< header lines of arguments that a modern server wants to see in the head (Mcp-Param-*)
  std::string_view request_state;    ///< raw; put in place of the client's params.requestState; empty: stays
  std::string_view input_responses;  ///< JSON; added to the params; empty: none
  std::string_view credential;       ///< header lines that go along, each with its line end; empty: none
  bool repeatable = false;           ///< it does no harm if the server carries it out twice
};

enum class upstream_state : std::uint8_t { starting, ready, degraded };

struct upstream_status {
  upstream_state state = upstream_state::starting;
  std::string reason;  ///< why it is not as it should be, one line; else empty
  std::string protocol_version;
  std::string server_name;
  int denied = 0;  ///< the HTTP status (401, 403) with which it rejects the operator's credential; 0: it does not
};

/// For whom an upstream's session is opened.
struct session_role {
  protocol::client_abilities abilities;  ///< what the server is told that it may ask
  bool lists = true;                     ///< the session keeps the listing of what the server offers up to date
  bool news = true;                      ///< somebody hears what the server says outside of requests
  /// Header lines of the principal whose session it is, in the place of configured ones. The session takes on those of
  /// each later request. Unset: it is opened with the operator's.
  std::optional<std::string> credential;
};

class upstream {
 public:
  virtual ~upstream() = default;

  /// Sends one request and waits for its response. The id and the progress token that the upstream sees are ours.
  /// Ends by `interrupt`'s deadline at the latest; every way to end is a reply. Runs on `on`'s thread, may be called on
  /// any worker. `client` may be null: then nothing but the response is passed on, and the server may ask nothing.
  virtual boost::asio::awaitable<reply> call(async::worker& on, outgoing_request request, async::interrupt& interrupt,
                                             client_side* client) = 0;

  /// Thread-safe copy of how the upstream is.
  virtual upstream_status status() const = 0;

  /// The era of the server as far as known: legacy until it has said otherwise. Any thread.
  virtual protocol::era era() const { return protocol::era::legacy; }

  /// Calls go with their caller's credential, not with the operator's.
  virtual bool forwards() const { return false; }

  /// The resources whose changes are to be told to the observer from now on, all of them, by the server's own URIs.
  /// Holds over lost sessions and restarts. Control thread.
  virtual void watch(std::set<std::string> /*uris*/) {}

  /// A client's session has ended: what was opened for it is closed. Any thread.
  virtual void client_gone(std::string_view /*session*/) {}
};

}  // namespace switchgear::port
