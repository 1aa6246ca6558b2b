#include "app/arguments.hpp"
#include "app/check.hpp"
#include "app/demo.hpp"
#include "app/serve.hpp"
#include "app/status.hpp"
#include "app/stdio.hpp"
#include "upstream/child_guard.hpp"

#include <csignal>
#include <exception>
#include <iostream>

namespace {

int run(const switchgear::app::arguments& given) {
  using switchgear::app::command;
  switch (given.command) {
    case command::serve:
      return switchgear::app::serve(given, std::cerr);
    case command::stdio:
      return switchgear::app::run_stdio(given, std::cerr);
    case command::demo:
      return switchgear::app::run_demo({given.once, given.listen, given.admin});
    case command::check:
      return switchgear::app::check(given.file, std::cout, std::cerr);
    case command::status:
      return switchgear::app::status(given.admin.value_or("127.0.0.1:9090"), std::cout, std::cerr);
    case command::nothing:
      break;
  }
  (given.exit_code == switchgear::app::exit_ok ? std::cout : std::cerr) << given.text;
  return given.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  // A peer that closes its end must cost an error code, not the process.
  std::signal(SIGPIPE, SIG_IGN);
  if (argc == 2 && argv[1] == switchgear::upstream::guard_command) return switchgear::upstream::run_child_guard();
  try {
    return run(switchgear::app::parse_arguments(argc, argv));
  } catch (const std::exception& problem) {
    std::cerr << "switchgear: " << problem.what() << '\n';
    return switchgear::app::exit_failed;
  }
}
