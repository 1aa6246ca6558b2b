#include "app/demo.hpp"

#include "app/demo_screen.hpp"
#include "app/demo_server.hpp"
#include "app/demo_setup.hpp"
#include "app/demo_story.hpp"
#include "app/demo_summary.hpp"
#include "app/demo_traffic.hpp"
#include "app/demo_view.hpp"
#include "app/gateway.hpp"
#include "config/read.hpp"
#include "observe/log.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace switchgear::app {

namespace asio = boost::asio;

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto as_values = asio::as_tuple(asio::use_awaitable);
constexpr std::uint16_t usual_mcp_port = 8080;
constexpr std::uint16_t usual_admin_port = 9090;
constexpr std::size_t narrowest_picture = 80;
constexpr std::size_t widest_picture = 120;

time_point now() {
  return std::chrono::steady_clock::now();
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

int complain(std::string_view text) {
  std::fprintf(stderr, "switchgear demo: %.*s\n", static_cast<int>(text.size()), text.data());
  return 1;
}

/// Columns of the terminal on stdout, 0 when it is none or cannot be drawn on.
std::size_t terminal_width() {
  const char* const kind = std::getenv("TERM");
  if (!isatty(STDOUT_FILENO) || !kind || std::string_view(kind) == "dumb") return 0;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return narrowest_picture;
  return size.ws_col;
}

bool colour_wanted() {
  const char* const no = std::getenv("NO_COLOR");
  return !no || *no == '\0';
}

/// Draws over what it drew before on a terminal; elsewhere prints a line a second.
class display {
 public:
  ~display() {
    if (drawn_ > 0) print("\x1b[?25h");
  }

  void update(const demo_view& view) {
    const std::size_t width = terminal_width();
    if (width >= narrowest_picture) {
      draw(demo_picture(view, colour_, std::min(width, widest_picture)));
    } else if (view.at / seconds(1) != line_second_) {
      line_second_ = view.at / seconds(1);
      print(demo_line(view) + "\n");
    }
  }

 private:
  void draw(const std::vector<std::string>& lines) {
    std::string text = drawn_ == 0 ? "\x1b[?25l" : "\x1b[" + std::to_string(drawn_) + "A";
    for (const std::string& line : lines) text += "\r\x1b[2K" + line + "\n";
    print(text);
    drawn_ = lines.size();
  }

  const bool colour_ = colour_wanted();
  std::size_t drawn_ = 0;
  std::int64_t line_second_ = -1;
};

/// The demonstration. Client, display and signals share the calling thread; gateway and tool server have their own.
class show {
 public:
  explicit show(const demo_settings& settings) : settings_(settings), signals_(io_, SIGINT, SIGTERM) {}

  int run();

 private:
  std::string set_up();
  asio::awaitable<void> play();
  asio::awaitable<void> follow_the_acts();
  int verdict() const;

  const demo_settings& settings_;
  observe::log log_{observe::level::off};
  asio::io_context io_{1};
  asio::signal_set signals_;
  std::unique_ptr<demo_server> tools_;
  std::unique_ptr<gateway> gateway_;
  std::unique_ptr<demo_traffic> traffic_;
  demo_story story_;
  demo_view view_;
  std::string broken_;  // why the show could not be played
  bool played_ = false;
  int signal_ = 0;
};

result<std::string> place(const std::optional<std::string>& given, std::uint16_t usual, const char* what) {
  if (given) return *given;
  const result<std::uint16_t> port = free_port(usual);
  if (!port) return port.error();
  if (*port != usual) {
    print("Port " + std::to_string(usual) + " is taken; " + what + " is on " + std::to_string(*port) + ".\n");
  }
  return "127.0.0.1:" + std::to_string(*port);
}

/// Empty, or what is wrong.
std::string show::set_up() {
  auto tools = demo_server::start();
  if (!tools) return "cannot start the tool server: " + tools.error().message();
  tools_ = std::move(*tools);

  const result<std::string> listen = place(settings_.listen, usual_mcp_port, "MCP");
  if (!listen) return "no free port: " + listen.error().message();
  const result<std::string> admin = place(settings_.admin, usual_admin_port, "the admin API");
  if (!admin) return "no free port: " + admin.error().message();

  const config::reading read = config::read_text(
      demo_configuration({tools_->weather_url(), tools_->backup_url(), *listen, *admin}), "demo.yaml");
  if (!read.gateway)
    return read.errors.empty() ? "no configuration" : config::to_string(read.errors.front(), read.file);
  auto started = gateway::start(*read.gateway, log_);
  if (!started) return started.error();
  gateway_ = std::move(*started);
  traffic_ = std::make_unique<demo_traffic>(io_, gateway_->mcp_port(), gateway_->admin_port());
  return "";
}

int show::run() {
  if (const std::string problem = set_up(); !problem.empty()) return complain(problem);
  signals_.async_wait([this](const boost::system::error_code& failed, int number) {
    if (failed) return;
    signal_ = number;
    io_.stop();
  });
  asio::co_spawn(io_, play(), [this](std::exception_ptr failed) {
    if (failed) broken_ = "the show ended early";
    if (failed || !broken_.empty() || settings_.once) io_.stop();
  });
  io_.run();
  gateway_->stop();
  if (!broken_.empty()) return complain(broken_);
  if (!played_) {
    print("\nInterrupted.\n");
    return 128 + signal_;
  }
  return verdict();
}

asio::awaitable<void> show::play() {
  broken_ = co_await traffic_->open();
  if (!broken_.empty()) co_return;
  co_await follow_the_acts();
  played_ = true;
  tools_->behave(behaviour::well, behaviour::well);

  print("\n" + demo_summary(story_) + "\n");
  const std::vector<std::string> complaints = story_.complaints();
  if (complaints.empty()) {
    print("As it should be: every call was answered in time, each fault opened the breaker, and it closed again.\n");
  }
  for (const std::string& each : complaints) print("Not as it should be: " + each + ".\n");
  if (!settings_.once) print("\n" + demo_paste(gateway_->mcp_port(), gateway_->admin_port()));
}

asio::awaitable<void> show::follow_the_acts() {
  display screen;
  const time_point start = now() + milliseconds(100);
  traffic_->run(
      start,
      [this](const seen_call& call) {
        story_.add(call);
        view_.add(call);
      },
      [this](const seen_state& look) {
        story_.add(look);
        view_.add(look);
      });
  asio::steady_timer tick(io_);
  while (traffic_->running()) {
    const phase& act = demo_phases()[phase_at(now() - start)];
    tools_->behave(act.weather, act.backup);
    screen.update(view_);
    tick.expires_after(milliseconds(100));
    co_await tick.async_wait(as_values);
  }
  screen.update(view_);
}

int show::verdict() const {
  return story_.complaints().empty() ? 0 : 1;
}

}  // namespace

int run_demo(const demo_settings& settings) {
  return show(settings).run();
}

}  // namespace switchgear::app
