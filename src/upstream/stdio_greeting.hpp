// The first words with a child: of which era it is, and what it says of itself.
// Source: MCP 2025-11-25 basic/lifecycle; 2026-07-28 basic/versioning.
#pragma once

#include "async/worker.hpp"
#include "protocol/abilities.hpp"
#include "upstream/handshake.hpp"
#include "upstream/stdio_session.hpp"

#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace switchgear::upstream {

/// What our own requests to a child need. Everything must live until they complete; they complete early when the
/// session fails its requests. Control worker.
struct stdio_asking {
  async::worker& on;
  stdio_session& session;
  std::atomic<std::uint64_t>& next_id;  ///< of the upstream: ids are not used twice for one child
  duration timeout;                     ///< for each answer
};

/// The response to one request of our own; nothing, with `why` in one line that names `what`, when there is none.
boost::asio::awaitable<std::optional<kept_message>> ask_child(stdio_asking with, std::uint64_t id, std::string text,
                                                              std::string_view what, std::string& why);

/// How a child is spoken to first.
enum class opening : std::uint8_t {
  /// server/discover, and initialize when that brought nothing. What is of both eras is then modern.
  modern_first,
  /// initialize, and server/discover when that was refused. What is of both eras is then legacy.
  legacy_first,
  modern_only,
  legacy_only,
};

struct greeting {
  opening first = opening::modern_first;
  protocol::client_abilities abilities;  ///< what a legacy server is told that it may ask
  duration probe_timeout{};              ///< how long initialize waits for the answer to server/discover
};

/// The era of the child, which is then ready for requests, and its `hello`. Nothing: `why` is one line.
boost::asio::awaitable<std::optional<protocol::era>> greet(stdio_asking with, greeting how, server_hello& hello,
                                                           std::string& why);

}  // namespace switchgear::upstream
