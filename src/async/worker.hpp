// One thread's things: its event loop, timers and buffers. Connections stay on the worker that accepted them.
#pragma once

#include "async/timer_wheel.hpp"
#include "base/buffer.hpp"
#include "base/time.hpp"

#include <boost/asio/io_context.hpp>

namespace switchgear::async {

/// An io_context that can let go of what still waits in it before it is destroyed.
class event_loop : public boost::asio::io_context {
 public:
  event_loop() : io_context(1) {}
  /// Destroys every coroutine and handler that waits in the loop. After the loop's thread has ended, and while all that
  /// they may refer to is still there.
  void abandon() { shutdown(); }
};

/// Built once at start-up, outlives everything that runs on it. All members but io.post are for the worker's own
/// thread.
struct worker {
  explicit worker(unsigned number) : index(number), timers(io) {}
  ~worker() { io.abandon(); }

  unsigned index;  ///< 0..n-1 data threads, n the control thread; also the breaker stripe
  event_loop io;
  buffer_pool buffers;  // before whatever holds buffers
  timer_wheel timers;

  static time_point now() { return std::chrono::steady_clock::now(); }
};

}  // namespace switchgear::async
