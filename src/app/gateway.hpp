// A whole gateway in one object: everything wired together, its threads, its start and its end.
#pragma once

#include "base/result.hpp"
#include "config/gateway.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace switchgear::observe {
class log;
}

namespace switchgear::app {

/// Which addresses a gateway takes.
struct doors {
  bool mcp = true;
  bool admin = true;
};

/// A client that speaks over two descriptors, which the gateway takes over.
struct piped_client {
  int input;
  int output;
  std::function<void()> on_end;  ///< it has gone, and its requests with it; called once, on a thread of the gateway
};

/// Runs on its own threads: the data threads of the configuration and one control thread. Its methods may be called
/// from any other thread.
class gateway {
 public:
  /// Takes the addresses, begins to open the upstreams and to serve. `log` must outlive the gateway. The error is one
  /// line for people (an address in use, a CA file that cannot be read).
  static boost::system::result<std::unique_ptr<gateway>, std::string> start(config::gateway settings, observe::log& log,
                                                                            doors open = {});
  /// Stops if need be.
  ~gateway();
  gateway(const gateway&) = delete;
  gateway& operator=(const gateway&) = delete;

  /// Serves one more client, besides those that come to the MCP address. Not more than once.
  void serve(piped_client client);

  /// 0: there is none.
  std::uint16_t mcp_port() const;
  std::uint16_t admin_port() const;

  /// Every upstream has been tried once, and the gateway is not on its way down.
  bool ready() const;

  /// Drains (listen_settings::drain), ends the upstreams' sessions and children, and joins the threads. Blocks for the
  /// drain limit and a few seconds at most. Again: nothing.
  void stop();

 private:
  class wiring;
  explicit gateway(std::unique_ptr<wiring> parts);
  std::unique_ptr<wiring> wiring_;
};

}  // namespace switchgear::app
