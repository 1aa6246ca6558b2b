// The kinds of load, and what they measure.
#pragma once

#include "load/client.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace switchgear::bench {

struct order {
  std::uint16_t port = 0;
  std::string tool = "small";
  unsigned connections = 16;
  double seconds = 3;
  double warm_up = 0.5;  ///< seconds that are not measured
  double rate = 2000;    ///< calls a second in all; open loop only
  int cpu_of = 0;        ///< measure this process; 0: none
};

struct figures {
  std::uint64_t calls = 0;     ///< with HTTP 200
  std::uint64_t is_error = 0;  ///< of them, those whose result says isError
  std::uint64_t failed = 0;    ///< cut, refused, or another status
  double seconds = 0;
  double cpu_us_per_call = 0;                             ///< of the measured process
  double p50_us = 0, p90_us = 0, p99_us = 0, max_us = 0;  ///< from the moment at which the call was due
  std::uint64_t connected = 0;
  double bytes_per_connection = 0;  ///< idle only

  std::string json() const;
};

/// Each connection calls again as soon as it has its answer.
boost::asio::awaitable<figures> closed_loop(boost::asio::io_context& io, order what);

/// Calls are due at a fixed rate, whatever the answers do; each connection takes every n-th.
boost::asio::awaitable<figures> open_loop(boost::asio::io_context& io, order what);

/// Connections that have made one call each and then keep still: memory of the measured process for each.
boost::asio::awaitable<figures> idle_connections(boost::asio::io_context& io, order what);

}  // namespace switchgear::bench
