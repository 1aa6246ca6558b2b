// One thread's things: its event loop, timers and buffers. Connections stay on the worker that accepted them.
#pragma once

#include <boost/asio/io_context.hpp>

#include "async/timer_wheel.hpp"
#include "base/buffer.hpp"
#include "base/time.hpp"

namespace switchgear::async {

/// Built once at start-up, outlives everything that runs on it. All members but io.post are for the worker's own thread.
struct worker {
  explicit worker(unsigned number) : index(number), timers(io) {}

  unsigned index;              ///< 0..n-1 data threads, n the control thread; also the breaker stripe
  boost::asio::io_context io{1};
  buffer_pool buffers;         // before whatever holds buffers
  timer_wheel timers;

  static time_point now() { return std::chrono::steady_clock::now(); }
};

}  // namespace switchgear::async
