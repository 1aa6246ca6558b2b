// The idle connections that one worker holds to one HTTP upstream.
#pragma once

#include "async/timer_wheel.hpp"
#include "async/worker.hpp"
#include "upstream/stream.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace switchgear::upstream {

/// Of one worker; not thread-safe. Hands out the connection that was used last, and closes those that have been idle
/// for `keep_alive`: best less than what the server allows (Node.js closes after 5 s), so that we rarely write into a
/// connection that is being closed.
class connection_pool final : private async::timer_node {
 public:
  static constexpr duration usual_keep_alive = std::chrono::seconds(4);

  connection_pool(async::worker& on, std::size_t most, duration keep_alive = usual_keep_alive)
      : on_(on), most_(most), keep_alive_(keep_alive) {}

  /// An idle connection that is not too old and that the peer has not closed, or null.
  std::unique_ptr<stream> take();
  /// Gives back a connection on which the last exchange ended cleanly.
  void give(std::unique_ptr<stream> connection, time_point now);

  /// Counts a connection that is in use; the limit holds for idle and busy ones together.
  bool may_open() const { return open_ < most_; }
  void opened() { ++open_; }
  void closed() { --open_; }

  void close_idle();

 private:
  struct idle {
    std::unique_ptr<stream> connection;
    time_point since;
  };
  void fire() override;

  async::worker& on_;
  std::size_t most_;
  duration keep_alive_;
  std::size_t open_ = 0;
  std::vector<idle> idle_;  // oldest first
};

}  // namespace switchgear::upstream
