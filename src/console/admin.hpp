// The admin listener: health, metrics, the breakers as JSON, and a page that shows them.
#pragma once

#include "async/worker.hpp"
#include "base/result.hpp"
#include "port/upstream.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace switchgear::port {
class breakers;
}

namespace switchgear::console {

struct admin_settings {
  std::string address = "127.0.0.1";
  std::uint16_t port = 9090;               ///< 0: any free one, see admin::port()
  std::vector<std::string> allowed_hosts;  ///< Host values accepted besides the loopback names; "*" accepts all
};

/// A configured upstream as the console shows it.
struct upstream_row {
  std::string alias;
  port::upstream_status status;
  std::size_t tools = 0;  ///< in the catalogue
};

struct readiness {
  bool ready = false;
  std::string reason;  ///< one line; empty when ready
};

/// Where the answers come from. Called on the control worker's thread, once a request; must be quick and must stay
/// callable until stop() has returned.
struct admin_sources {
  std::function<std::string()> metrics;  ///< Prometheus text exposition
  std::function<readiness()> ready;
  std::function<std::vector<upstream_row>()> upstreams;
  const port::breakers* breakers = nullptr;  ///< may be null: no circuits
};

/// Serves GET only, on the control worker. At most 64 connections, 8 KB of head, 10 s from a connection's last answer
/// (or its start) to the end of its next request. A request whose Host is not a loopback name (or allowed) gets 421 and
/// one with a foreign Origin 403, so that a web page cannot read it through a name that it rebinds to 127.0.0.1.
class admin {
 public:
  /// Listens at once. Error: why the address cannot be had (in use, not this machine's, not an address).
  static result<std::unique_ptr<admin>> listen(async::worker& on, admin_settings settings, admin_sources sources);

  /// Same as stop().
  ~admin();
  admin(const admin&) = delete;
  admin& operator=(const admin&) = delete;

  std::uint16_t port() const;

  /// Closes the listener and every connection; the sources are not called afterwards. On the worker's thread, or while
  /// that thread is not running.
  void stop();

 private:
  struct state;
  explicit admin(std::shared_ptr<state> shared);
  std::shared_ptr<state> state_;
};

}  // namespace switchgear::console
