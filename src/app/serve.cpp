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

// The file's values, overruled by the command line's. Empty, or what is wrong with the command line.
std::string overrule(config::gateway& settings, const arguments& given) {
  if (given.listen) {
    const auto where = config::parse_endpoint(*given.listen);
    if (!where) return "--listen " + *given.listen + ": not HOST:PORT with an IP address";
    settings.listen.address = where->address;
    settings.listen.port = where->port;
  }
  if (given.admin) {
    const auto where = config::parse_endpoint(*given.admin);
    if (!where) return "--admin " + *given.admin + ": not HOST:PORT with an IP address";
    settings.admin.address = where->address;
    settings.admin.port = where->port;
  }
  if (given.state && *given.state != "memory") {
    return "--state " + *given.state + ": this version keeps breakers in memory only; write memory";
  }
  if (given.threads) settings.threads = *given.threads;
  return {};
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
    for (const config::problem& one : read.warnings) problems << "warning: " << to_string(one, read.file) << '\n';
    if (!read.gateway) return exit_failed;
    settings = std::move(*read.gateway);
  }
  if (const std::string wrong = overrule(settings, given); !wrong.empty()) {
    problems << wrong << '\n';
    return exit_usage;
  }
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
