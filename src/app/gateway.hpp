// A whole gateway in one object: everything wired together, its threads, its start and its end.
#pragma once

#include "base/result.hpp"
#include "config/gateway.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace switchgear::observe {
class log;
}

namespace switchgear::app {

/// Runs on its own threads: the data threads of the configuration and one control thread. Its methods may be called
/// from any other thread.
class gateway {
 public:
  /// Takes both addresses, begins to open the upstreams and to serve. `log` must outlive the gateway. The error is one
  /// line for people (an address in use, a CA file that cannot be read).
  static boost::system::result<std::unique_ptr<gateway>, std::string> start(config::gateway settings,
                                                                            observe::log& log);
  /// Stops if need be.
  ~gateway();
  gateway(const gateway&) = delete;
  gateway& operator=(const gateway&) = delete;

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
