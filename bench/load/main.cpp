// bench_load: a tool server and the load on what stands before it. bench/run.py puts the two on one core and the
// proxy on another. Prints one line of JSON.

#include "load/load.hpp"
#include "load/tool_server.hpp"

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <cstdio>
#include <exception>
#include <string>
#include <sys/prctl.h>

namespace {

namespace asio = boost::asio;
using namespace switchgear::bench;

void print(std::exception_ptr error, const figures& found) {
  if (error) std::rethrow_exception(error);
  std::puts(found.json().c_str());
}

void add_load_options(CLI::App& command, order& what) {
  command.add_option("--port", what.port)->required();
  command.add_option("--tool", what.tool);
  command.add_option("--connections", what.connections);
  command.add_option("--seconds", what.seconds);
  command.add_option("--warm-up", what.warm_up);
  command.add_option("--rate", what.rate);
  command.add_option("--of", what.cpu_of, "process id to measure");
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("load generator and tool server of the benchmarks");
  app.require_subcommand(1);
  order what;
  auto* server = app.add_subcommand("server", "serve the bench's tools on 127.0.0.1");
  server->add_option("--port", what.port)->required();
  auto* closed = app.add_subcommand("closed", "call again as soon as the answer is there");
  auto* open = app.add_subcommand("open", "call at a fixed rate");
  auto* idle = app.add_subcommand("idle", "connect, call once, keep still");
  for (CLI::App* command : {closed, open, idle}) add_load_options(*command, what);
  CLI11_PARSE(app, argc, argv);

  ::prctl(PR_SET_TIMERSLACK, 1UL);  // the default of 50 us would be half of what is measured
  try {
    asio::io_context io(1);
    if (server->parsed()) {
      asio::co_spawn(io, serve_tools(io, what.port), [](std::exception_ptr error) {
        if (error) std::rethrow_exception(error);
      });
    } else {
      const auto run = closed->parsed() ? closed_loop : open->parsed() ? open_loop : idle_connections;
      asio::co_spawn(io, run(io, what), print);
    }
    io.run();
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "bench_load: %s\n", problem.what());
    return 1;
  }
  return 0;
}
