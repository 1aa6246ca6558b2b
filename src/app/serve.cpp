#include "app/serve.hpp"

#include "app/gateway.hpp"
#include "app/log_level.hpp"
#include "config/read.hpp"
#include "config/values.hpp"
#include "observe/log.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <ostream>
#include <string>
#include <sys/resource.h>
#include <utility>

namespace switchgear::app {

namespace {

// parse_arguments has checked the values of the command line.
void overrule(config::gateway& settings, const arguments& given) {
  if (given.listen) {
    const auto where = config::parse_endpoint(*given.listen);
    settings.listen.address = where->address;
    settings.listen.port = where->port;
  }
  if (given.admin) {
    const auto where = config::parse_endpoint(*given.admin);
    settings.admin.address = where->address;
    settings.admin.port = where->port;
  }
  if (given.state) settings.state = *given.state;
  if (given.threads) settings.threads = *given.threads;
}

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
  config::gateway settings;
  if (!given.file.empty()) {
    config::reading read = config::read_file(given.file);
    for (const config::problem& one : read.errors) problems << to_string(one, read.file) << '\n';
    for (config::problem one : read.warnings) {
      one.what.insert(0, "warning: ");
      problems << to_string(one, read.file) << '\n';
    }
    if (!read.gateway) return exit_failed;
    settings = std::move(*read.gateway);
  }
  overrule(settings, given);
  raise_descriptor_limit();

  observe::log log(log_level(settings.log));
  // Before any thread is there, so that every thread leaves these signals to this loop.
  boost::asio::io_context waiting(1);
  boost::asio::signal_set signals(waiting, SIGINT, SIGTERM);
  auto started = gateway::start(std::move(settings), log);
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
