// The configured upstreams with everything that belongs to them: made together, started and stopped together.
#pragma once

#include "async/worker.hpp"
#include "config/gateway.hpp"
#include "port/audience.hpp"
#include "port/upstream.hpp"
#include "upstream/child_guard.hpp"
#include "upstream/observer.hpp"
#include "upstream/own_sessions.hpp"

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::app {

/// Outlives the loops of all workers. `workers` has the control worker last.
class tool_servers {
 public:
  /// Throws if an upstream cannot be set up: start-up.
  tool_servers(std::vector<async::worker*> workers, const config::gateway& settings, upstream::observer& watcher,
               port::audience& clients, std::function<std::uint64_t()> fresh_seed);
  /// When the loops have ended, and before they are destroyed.
  ~tool_servers();

  /// In the order of the configuration.
  std::vector<port::upstream*> all() const;

  /// Control thread, once each. stop() takes some seconds at most.
  void start();
  boost::asio::awaitable<void> stop();

  /// A client's session has ended. Any thread.
  void client_gone(std::string_view session);

  /// Where a URI that clients know is: its upstream's index and the upstream's own URI; nothing if nowhere.
  struct place {
    port::upstream* upstream = nullptr;
    std::string_view uri;
  };
  /// From now on clients want to hear of these resources. Control thread.
  void watch(const std::vector<std::string>& uris, const std::function<place(std::string_view)>& find);

 private:
  upstream::own_sessions::link make_link(unsigned index, const port::upstream_settings& settings,
                                         port::session_role role, std::shared_ptr<upstream::observer> watcher);

  std::vector<async::worker*> workers_;
  async::worker& control_;
  std::function<std::uint64_t()> fresh_seed_;
  std::shared_ptr<bool> loops_ended_ = std::make_shared<bool>(false);
  std::unique_ptr<upstream::child_guard> guard_;  // null: no upstream is a child
  std::vector<std::unique_ptr<upstream::own_sessions>> all_;
};

}  // namespace switchgear::app
