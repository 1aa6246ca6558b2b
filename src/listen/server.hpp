// The gateway's front: listens on every data thread and serves MCP clients.
#pragma once

#include "async/worker.hpp"
#include "base/result.hpp"
#include "listen/clientele.hpp"
#include "port/call_handler.hpp"
#include "port/recorder.hpp"
#include "port/settings.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace switchgear::listen {

/// One acceptor a worker on the same address (SO_REUSEPORT): the kernel spreads connections, and each stays on its
/// worker. Outlives the workers' loops.
class server {
 public:
  /// `handlers` has one handler a worker, in their order. Nothing happens before listen().
  server(std::vector<async::worker*> workers, port::listen_settings settings, std::vector<port::call_handler*> handlers,
         port::recorder& recorder, clientele_links links);
  ~server();

  /// Takes the address and begins to accept. Before the workers' loops run. Errors: bad_address, address_in_use,
  /// cannot_listen.
  error_code listen();
  /// The port that was taken, when settings said 0.
  std::uint16_t port() const { return port_; }

  /// The clients: what they are offered, told and asked.
  clientele& clients() { return clients_; }

  /// Stops accepting, ends idle connections, lets calls finish until settings.drain has passed, then interrupts them.
  /// Completes when no connection is left, a second after that at the latest. On `on`, once.
  boost::asio::awaitable<void> drain(async::worker& on);

 private:
  struct front;

  std::vector<async::worker*> workers_;
  port::listen_settings settings_;
  clientele clients_;
  std::vector<std::unique_ptr<front>> fronts_;
  std::uint16_t port_ = 0;
};

}  // namespace switchgear::listen
