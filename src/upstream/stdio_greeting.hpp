// The first words with a child, and its list of tools: the handshake's texts over a session's pipes.
#pragma once

#include "async/worker.hpp"
#include "upstream/handshake.hpp"
#include "upstream/observer.hpp"
#include "upstream/stdio_session.hpp"

#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <cstdint>
#include <string>

namespace switchgear::upstream {

/// What these coroutines share. Everything must live until they complete; they complete early when the session fails
/// its requests. Control worker.
struct stdio_greeting {
  async::worker& on;
  stdio_session& session;
  std::atomic<std::uint64_t>& next_id;  ///< of the upstream: ids are not used twice for one child
  duration timeout;                     ///< for each answer
};

/// initialize and initialized. False: `why` is one line.
boost::asio::awaitable<bool> greet(stdio_greeting with, server_hello& hello, std::string& why);

/// tools/list with all pages. False: `why` is one line, and `tools` is of no use.
boost::asio::awaitable<bool> list_tools(stdio_greeting with, listing& tools, std::string& why);

}  // namespace switchgear::upstream
