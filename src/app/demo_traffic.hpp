// The client of the demonstration: an MCP session, steady calls, and looks at the admin API.
#pragma once

#include "app/demo_http.hpp"
#include "app/demo_story.hpp"
#include "base/time.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace switchgear::app {

/// Calls a second, evenly spaced whatever the answers do (open loop): a slow tool does not make the client slow.
inline constexpr unsigned demo_calls_per_second = 40;

/// Everything runs on one thread, the io_context's.
class demo_traffic {
 public:
  demo_traffic(boost::asio::io_context& io, std::uint16_t mcp_port, std::uint16_t admin_port)
      : io_(io), mcp_port_(mcp_port), admin_port_(admin_port) {}

  /// Waits until the gateway is ready and knows the demo's tools, and opens a session. Empty, or what is wrong.
  boost::asio::awaitable<std::string> open();

  /// Begins to call and to look; every call and look is reported once. Ends by itself after the show.
  void run(time_point start, std::function<void(const seen_call&)> on_call,
           std::function<void(const seen_state&)> on_look);

  /// True while a call or look may still be reported.
  bool running() const { return running_ > 0; }

 private:
  boost::asio::awaitable<void> caller(unsigned number);
  boost::asio::awaitable<void> watcher();
  void spawn(boost::asio::awaitable<void> task);
  demo_request post(std::string body) const;

  boost::asio::io_context& io_;
  std::uint16_t mcp_port_;
  std::uint16_t admin_port_;
  std::string session_;
  time_point start_{};
  std::function<void(const seen_call&)> on_call_;
  std::function<void(const seen_state&)> on_look_;
  unsigned running_ = 0;
  std::uint64_t last_id_ = 100;
};

}  // namespace switchgear::app
