// Leave to make one call, of its tool's breaker and of its server's. It always comes back.
#pragma once

#include "breaker/gate.hpp"

#include <algorithm>
#include <utility>

namespace switchgear::breaker {

/// Move-only. Settles exactly once: by settle(), or as neutral by its destructor, so that a coroutine destroyed, an
/// exception or a shutdown cannot leave a probe's place taken. Belongs to the thread whose stripe it was acquired with.
class permit {
 public:
  permit() = default;
  permit(permit&& other) noexcept
      : tool_(other.tool_), server_(other.server_), stripe_(other.stripe_), held_(std::exchange(other.held_, false)) {}
  permit& operator=(permit&& other) noexcept {
    if (this != &other) {
      abandon();
      tool_ = other.tool_;
      server_ = other.server_;
      stripe_ = other.stripe_;
      held_ = std::exchange(other.held_, false);
    }
    return *this;
  }
  ~permit() { abandon(); }

  explicit operator bool() const { return held_; }

  /// Records what the call meant for each scope; `took` is for the shown p99 only, zero = unknown. A second call does
  /// nothing. True: something that the breakers should hear of at once; pass the gates to port::breakers::kick.
  bool settle(const outcome& tool, const outcome& server, duration took = duration::zero()) noexcept {
    if (!std::exchange(held_, false)) return false;
    const unsigned bucket = latency_bucket(took);
    const bool tool_news = tool_.gate->settle(tool_, stripe_, tool, bucket);
    return server_.gate->settle(server_, stripe_, server, bucket) || tool_news;
  }

  /// The call is still running after slow_after(): for the tool's breaker it counts as slow from now on, however it
  /// ends. (What is slow for the server is said at the end: most tools share one.) True as settle().
  bool mark_slow() noexcept { return held_ && tool_.gate->mark_slow(tool_, stripe_); }

  /// The call was not made after all (another limit refused it): no outcome, and a probe's lease is another call's.
  void give_back() noexcept {
    if (!std::exchange(held_, false)) return;
    tool_.gate->give_back(tool_);
    server_.gate->give_back(server_);
  }

  /// A trial call: its result decides. It must be settled by lease_deadline(), so the call's deadline must not be
  /// later.
  bool probe() const { return tool_.place >= 0 || server_.place >= 0; }
  /// Of the tool's breaker: there an answer with isError shows that the tool works.
  bool tool_probe() const { return tool_.place >= 0; }
  /// time_point::max() unless probe().
  time_point lease_deadline() const { return std::min(tool_.deadline, server_.deadline); }

  /// How long the call may take before mark_slow() is due; zero = never.
  duration slow_after() const { return tool_.gate->slow_after(); }

  gate& tool() const { return *tool_.gate; }
  gate& server() const { return *server_.gate; }
  std::uint64_t tool_generation() const { return tool_.generation; }
  std::uint64_t server_generation() const { return server_.generation; }

 private:
  friend class admission;
  void abandon() noexcept {
    if (held_) settle({}, {});
  }

  pass tool_;
  pass server_;
  unsigned stripe_ = 0;
  bool held_ = false;
};

/// A permit, or why there is none.
class admission {
 public:
  /// Asks the tool's breaker, then the server's; what the first gave is given back when the second refuses.
  /// `stripe` is the calling worker's index. Does not fail, lock or allocate.
  admission(gate& tool, gate& server, unsigned stripe, time_point now) noexcept {
    if (!tool.enter(stripe, now, permit_.tool_, refusal_)) return;
    if (!server.enter(stripe, now, permit_.server_, refusal_)) {
      tool.give_back(permit_.tool_);
      return;
    }
    permit_.stripe_ = stripe;
    permit_.held_ = true;
  }

  explicit operator bool() const { return static_cast<bool>(permit_); }
  breaker::permit& permit() { return permit_; }
  const breaker::refusal& refusal() const { return refusal_; }  ///< meaningful when there is no permit

 private:
  breaker::permit permit_;
  breaker::refusal refusal_;
};

inline admission acquire(gate& tool, gate& server, unsigned stripe, time_point now) noexcept {
  return admission(tool, server, stripe, now);
}

}  // namespace switchgear::breaker
