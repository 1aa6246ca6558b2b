// The bench's tool server: Streamable HTTP, as little work as possible for each call.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdint>

namespace switchgear::bench {

/// Serves on 127.0.0.1:port until the loop ends.
boost::asio::awaitable<void> serve_tools(boost::asio::io_context& io, std::uint16_t port);

}  // namespace switchgear::bench
