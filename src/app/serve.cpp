#include "app/serve.hpp"

#include "app/gateway.hpp"
#include "app/log_level.hpp"
#include "app/read_settings.hpp"
#include "observe/log.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <optional>
#include <ostream>
#include <string>
#include <sys/resource.h>
#include <utility>

namespace switchgear::app {

namespace {

// Each client and each upstream connection is a descriptor; the usual soft limit of 1024 is far below what a gateway
// holds, and the hard limit is the operator's word.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int serve(const arguments& given, std::ostream& problems) {
  std::optional<config::gateway> settings = read_settings(given, problems);
  if (!settings) return exit_failed;
  raise_descriptor_limit();

  observe::log log(log_level(settings->log));
  // Before any thread is there, so that every thread leaves these signals to this loop.
  boost::asio::io_context waiting(1);
  boost::asio::signal_set signals(waiting, SIGINT, SIGTERM);
  auto started = gateway::start(*std::move(settings), log);
  if (!started) {
    problems << "switchgear: " << started.error() << '\n';
    return exit_failed;
  }
  log.event(
      observe::level::info, "serving",
      {{"mcp_port", std::to_string((*started)->mcp_port())}, {"admin_port", std::to_string((*started)->admin_port())}});
  signals.async_wait([&](const boost::system::error_code& error, int) {
    if (error) return;
    // A second signal finds the default again: whoever asks twice does not want to wait for the drain.
    signals.clear();
    (*started)->stop();
  });
  waiting.run();
  log.event(observe::level::info, "stopped");
  return exit_ok;
}

}  // namespace switchgear::app
