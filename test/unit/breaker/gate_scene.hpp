// A gate with its authority, one exchange at a time: what calls see.
#pragma once

#include "breaker/authority.hpp"
#include "breaker/gate.hpp"
#include "breaker/permit.hpp"

#include <chrono>

namespace switchgear::breaker {

using namespace std::chrono_literals;

inline constexpr outcome good{verdict::success, false, false};
inline constexpr outcome bad{verdict::failure, false, false};
inline constexpr outcome slow_good{verdict::success, true, false};
inline constexpr outcome slow_bad{verdict::failure, true, false};
inline constexpr outcome neutral{verdict::neutral, false, false};
inline constexpr outcome given_up{verdict::neutral, true, false};

/// A tool and its server, each with an authority.
struct scene {
  explicit scene(const settings& values = {})
      : tool("search__query", scope::tool, 2, values),
        tool_truth(scope::tool, values, now),
        server_truth(scope::server, {}, now) {
    exchange();
  }

  void exchange() {
    tool_reply = tool_truth.exchange(sent = tool.collect(now), now, 0.5);
    tool.apply(tool_reply, now);
    server.apply(server_truth.exchange(server.collect(now), now, 0.5), now);
  }
  void order_tool(order what) {
    tool_truth.obey(what, 0s, now);
    exchange();
  }

  admission ask(unsigned stripe = 0) { return acquire(tool, server, stripe, now); }

  bool call(const outcome& how, unsigned stripe = 0) {
    admission asked = ask(stripe);
    if (!asked) return false;
    asked.permit().settle(how, good);
    return true;
  }
  void open_tool() {
    for (int i = 0; i < 9; ++i) call(bad);
    exchange();
  }
  /// Open, cooled down, and with a lease for one probe at hand.
  void ready_to_probe() {
    open_tool();
    now += 30s;
    ask();
    exchange();
  }

  time_point now{1h};
  gate tool;
  gate server{"server:search", scope::server, 2, {}};
  authority tool_truth;
  authority server_truth;
  report sent;
  reply tool_reply;
};

}  // namespace switchgear::breaker
