// One client's connection: requests one after the other, each read whole before it is answered.
#pragma once

#include "http/head.hpp"
#include "listen/client_stream.hpp"
#include "listen/shard.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace switchgear::listen {

/// Serves until the client leaves, is too slow, breaks the framing, or the shard drains. While it waits for the next
/// request it holds no buffer: a thousand idle clients cost a thousand small coroutine frames.
boost::asio::awaitable<void> serve_connection(shard& here, boost::asio::ip::tcp::socket socket);

inline constexpr duration request_time = std::chrono::seconds(30);  ///< for a head and its body to arrive
inline constexpr duration idle_time = std::chrono::minutes(5);      ///< between two requests

}  // namespace switchgear::listen
