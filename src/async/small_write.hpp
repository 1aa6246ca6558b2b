// The first try to write a message: most messages are small and fit the socket's buffer.
#pragma once

#include "base/parts.hpp"
#include "base/result.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <cstddef>

namespace switchgear::async {

/// A message of at most so many bytes is worth copying together.
inline constexpr std::size_t most_small_bytes = 2048;

/// Writes a small message (total_size(pieces) is `size`, at most most_small_bytes) to a non-blocking socket in one
/// system call, without waiting: the copy costs less than what the kernel does for each piece. Gives the bytes taken;
/// `error` is would_block when the socket took none.
inline std::size_t write_small(boost::asio::ip::tcp::socket& socket, const parts& pieces, std::size_t size,
                               error_code& error) {
  char flat[most_small_bytes];
  char* end = flat;
  for (std::string_view piece : pieces) end = std::copy(piece.begin(), piece.end(), end);
  return socket.write_some(boost::asio::buffer(flat, size), error);
}

}  // namespace switchgear::async
