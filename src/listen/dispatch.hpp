// What a client's message asks for and who answers it, whatever carried the message.
// Source: MCP 2025-11-25 basic/lifecycle, server/*; 2026-07-28 server/discover, basic/patterns/subscriptions.
#pragma once

#include "async/interrupt.hpp"
#include "base/time.hpp"
#include "listen/sessions.hpp"
#include "listen/shard.hpp"
#include "port/call_handler.hpp"
#include "protocol/message.hpp"
#include "protocol/version.hpp"

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string_view>

namespace switchgear::listen {

/// What goes with the error of a client that finds too many sessions: when to come again, as failed calls say it.
inline constexpr std::string_view too_many_sessions_data =
    R"({"dev.switchgear/call":{"degraded":true,"served_by":"none","reason":"overloaded","retry_after_ms":5000}})";

/// Who sent a message, and by which rules it is read. Lives as long as the message's answer.
struct sender {
  protocol::era era = protocol::era::legacy;
  std::shared_ptr<listen::session> session;  ///< of a legacy client
  std::string_view client;     ///< by which the client takes back its requests; empty: it does not do so by messages
  std::string_view principal;  ///< "" is the anonymous one
  std::string_view head;       ///< the HTTP head that the message came with, or ""
};

/// The one of a legacy client.
inline sender sender_of(std::shared_ptr<session> session) {
  const std::string_view id = session->id();
  return {.session = std::move(session), .client = id};
}

/// A message with what was seen of it; both live until its answer is written.
struct incoming {
  std::string_view text;          ///< followed by buffer::padding readable bytes
  const protocol::message& seen;  ///< of text
  time_point arrived;

  std::string_view id() const { return seen.id.in(text); }
};

/// Serves the clients of one worker. Every request gets exactly one answer: a whole response in `out`, whose status is
/// what HTTP would say of it.
class dispatch {
 public:
  explicit dispatch(shard& here) : here_(here) {}

  /// Opens a session and answers `initialize`. Null: refused, and `out` says why.
  std::shared_ptr<session> initialize(const incoming& asked, std::string_view principal, port::answer& out);

  /// Answers any other request. What comes before the answer goes to `client`, which may be null. Others end it early
  /// by `interrupt`: the client that takes its request back, a drain. Of a modern client, whoever carried the message
  /// has checked it (protocol::refuse_modern).
  boost::asio::awaitable<void> request(const incoming& asked, const sender& from, async::interrupt& interrupt,
                                       port::event_sink* client, port::answer& out);

  /// Takes a notification; none is answered.
  void notification(const incoming& told, const sender& from);

  /// Takes a response to what a server asked the client; one that nobody waits for is dropped.
  void response(const incoming& given, const sender& from);

 private:
  void list(const incoming& asked, const sender& from, port::listed what, port::answer& out) const;
  void discover(const incoming& asked, port::answer& out) const;
  void set_level(const incoming& asked, const sender& from, port::answer& out);
  boost::asio::awaitable<void> call(const incoming& asked, const sender& from, async::interrupt& interrupt,
                                    port::event_sink* client, port::answer& out);
  boost::asio::awaitable<void> subscribe(const incoming& asked, const sender& from, async::interrupt& interrupt,
                                         port::answer& out);
  boost::asio::awaitable<void> unsubscribe(const incoming& asked, const sender& from, async::interrupt& interrupt,
                                           port::answer& out);
  boost::asio::awaitable<void> listen(const incoming& asked, async::interrupt& interrupt, port::event_sink* client,
                                      port::answer& out);

  shard& here_;
};

}  // namespace switchgear::listen
