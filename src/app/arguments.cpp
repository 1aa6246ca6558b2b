#include "app/arguments.hpp"

#include "base/version.hpp"
#include "config/gateway.hpp"
#include "config/nearest_name.hpp"
#include "config/values.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <exception>

namespace switchgear::app {
namespace {

std::string endpoint_fault(const std::string& text) {
  if (config::parse_endpoint(text)) return {};
  return "\"" + text + "\" is not an address; write IP:PORT, as in 127.0.0.1:8080";
}

std::string threads_fault(const std::string& text) {
  const auto count = config::parse_count(text);
  if (count && *count <= config::most_threads) return {};
  return "\"" + text + "\" is not a number of threads; write 0 to " + std::to_string(config::most_threads);
}

/// The program's commands and options, bound to the values that they fill.
class command_line {
 public:
  command_line() : top_("An MCP gateway with a circuit breaker and fallbacks for every tool.", "switchgear") {
    top_.set_version_flag("--version", "switchgear " + std::string(version));
    top_.set_help_flag("-h,--help", "show this text");
    top_.require_subcommand(1);
    // Help for one command is `switchgear help serve` as well as `switchgear serve --help`.
    auto& help = add(command::nothing, "help", "show the commands, or what one of them takes");
    help.add_option("COMMAND", about_, "the command");

    auto& serve = add(command::serve, "serve", "run the gateway");
    serve.add_option("FILE", parsed_.file, "configuration: a YAML file, or an mcp.json with \"mcpServers\"");
    add_endpoint(serve, "--listen", parsed_.listen, "where MCP clients connect, IP:PORT; overrides the file");
    add_endpoint(serve, "--admin", parsed_.admin, "where the admin API is, IP:PORT; overrides the file");
    serve.add_option("--state", parsed_.state, "where breakers are kept; overrides the file")
        ->check(config::state_fault);
    serve.add_option("--threads", parsed_.threads, "threads that serve calls, 0: one a core; overrides the file")
        ->check(threads_fault);

    auto& stdio = add(command::stdio, "stdio", "run the gateway for one client, over standard input and output");
    stdio.add_option("FILE", parsed_.file, "configuration: a YAML file, or an mcp.json with \"mcpServers\"")
        ->required();
    add_endpoint(stdio, "--admin", parsed_.admin,
                 "where the admin API is, IP:PORT; none unless this or the file says so");
    stdio.add_option("--state", parsed_.state, "where breakers are kept; overrides the file")
        ->check(config::state_fault);

    auto& demo = add(command::demo, "demo", "show a breaker at work: a failing tool server and traffic are built in");
    add_endpoint(demo, "--listen", parsed_.listen, "where MCP clients connect, IP:PORT");
    add_endpoint(demo, "--admin", parsed_.admin, "where the admin API is, IP:PORT");
    demo.add_flag("--once", parsed_.once, "end after the summary; exit 0 only if it went as it should");

    auto& check = add(command::check, "check", "say what is wrong with a configuration, or what it comes to");
    check.add_option("FILE", parsed_.file, "the configuration")->required();

    auto& status = add(command::status, "status", "show the breakers and upstreams of a running gateway");
    add_endpoint(status, "--admin", parsed_.admin, "its admin API, IP:PORT; default 127.0.0.1:9090");
  }

  arguments parse(int argc, const char* const* argv) {
    if (argc > 1 && argv[1][0] != '-' && !knows(argv[1])) return no_such_command(argv[1]);
    try {
      top_.parse(argc, argv);
    } catch (const CLI::Success& asked) {
      return said(asked.get_name() == "CallForVersion" ? asked.what() + std::string(1, '\n') : help_of_the_parsed(),
                  exit_ok);
    } catch (const CLI::ParseError& wrong) {
      return wrong_line(wrong.what());
    }
    const CLI::App* chosen = top_.get_subcommands().front();
    if (chosen->get_name() == "help") return help(about_);
    for (const auto& [name, which] : commands_) {
      if (chosen->get_name() == name) parsed_.command = which;
    }
    return parsed_;
  }

 private:
  CLI::App& add(command which, const std::string& name, const std::string& purpose) {
    CLI::App& made = *top_.add_subcommand(name, purpose);
    made.set_help_flag("-h,--help", "show this text");
    commands_.emplace_back(name, which);
    return made;
  }

  static void add_endpoint(CLI::App& to, const std::string& name, std::optional<std::string>& value,
                           const std::string& meaning) {
    to.add_option(name, value, meaning)->check(endpoint_fault);
  }

  bool knows(std::string_view name) const {
    return std::any_of(commands_.begin(), commands_.end(), [&](const auto& each) { return each.first == name; });
  }

  static arguments said(std::string text, int exit_code) {
    arguments made;
    made.text = std::move(text);
    made.exit_code = exit_code;
    return made;
  }

  static arguments wrong_line(std::string what) {
    // One line, however the library laid it out.
    std::replace(what.begin(), what.end(), '\n', ' ');
    return said("switchgear: " + what + "; `switchgear help` shows what there is\n", exit_usage);
  }

  arguments no_such_command(const std::string& name) const {
    std::vector<std::string_view> names;
    for (const auto& each : commands_) names.push_back(each.first);
    const std::string_view meant = config::nearest_name(name, names);
    const std::string hint = meant.empty() ? "" : "; \"" + std::string(meant) + "\" is near";
    return wrong_line("there is no command \"" + name + '"' + hint);
  }

  std::string help_of_the_parsed() const {
    const auto parsed = top_.get_subcommands();
    return parsed.empty() ? help_of_all() : parsed.front()->help("switchgear");
  }

  /// App::help speaks of the parsed command, which here is `help` itself.
  std::string help_of_all() const { return top_.get_formatter()->make_help(&top_, "", CLI::AppFormatMode::Normal); }

  arguments help(const std::string& about) const {
    if (about.empty()) return said(help_of_all(), exit_ok);
    if (!knows(about)) return no_such_command(about);
    return said(top_.get_subcommand(about)->help("switchgear"), exit_ok);
  }

  CLI::App top_;
  std::vector<std::pair<std::string, command>> commands_;
  std::string about_;
  arguments parsed_;
};

}  // namespace

arguments parse_arguments(int argc, const char* const* argv) {
  try {
    return command_line().parse(argc, argv);
  } catch (const std::exception& error) {
    arguments made;
    made.text = std::string("switchgear: ") + error.what() + '\n';
    made.exit_code = exit_usage;
    return made;
  }
}

}  // namespace switchgear::app
