#include "app/stdio.hpp"

#include "app/gateway.hpp"
#include "app/log_level.hpp"
#include "app/read_settings.hpp"
#include "observe/log.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <ostream>
#include <string>
#include <unistd.h>
#include <utility>

namespace switchgear::app {

namespace {

// A client asks for the tools as soon as it is connected, and many ask only once: they get what is there by then.
constexpr duration longest_start = std::chrono::seconds(10);
constexpr duration between_looks = std::chrono::milliseconds(5);

struct descriptors {
  int input = -1;
  int output = -1;
};

// The client's pipes under numbers of their own. What anybody else reads from standard input or prints to standard
// output from now on does not get between the messages.
std::optional<descriptors> take_standard_streams() {
  const descriptors taken{::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1),
                          ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)};
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (taken.input < 0 || taken.output < 0 || nothing < 0) return std::nullopt;
  const bool moved = ::dup2(nothing, STDIN_FILENO) >= 0 && ::dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
  ::close(nothing);
  return moved ? std::optional(taken) : std::nullopt;
}

// From the start of the gateway to its end, on a loop of the main thread.
class run {
 public:
  run(descriptors client, observe::log& log)
      : client_(client), log_(log), waiting_(1), signals_(waiting_, SIGINT, SIGTERM), look_(waiting_) {}

  int go(config::gateway settings, std::ostream& problems) {
    const bool admin = settings.admin.named;
    auto started = gateway::start(std::move(settings), log_, {.mcp = false, .admin = admin});
    if (!started) {
      problems << "switchgear: " << started.error() << '\n';
      return exit_failed;
    }
    gateway_ = std::move(*started);
    signals_.async_wait([this](const error_code& error, int) {
      if (!error) end("a signal");
    });
    latest_ = std::chrono::steady_clock::now() + longest_start;
    serve_when_ready();
    waiting_.run();
    return exit_ok;
  }

 private:
  void serve_when_ready() {
    if (!gateway_->ready() && std::chrono::steady_clock::now() < latest_) {
      look_.expires_after(between_looks);
      look_.async_wait([this](const error_code& error) {
        if (!error) serve_when_ready();
      });
      return;
    }
    log_.event(observe::level::info, "serving", {{"client", "stdio"}});
    gateway_->serve({client_.input, client_.output,
                     [this] { boost::asio::post(waiting_, [this] { end("the client has gone"); }); }});
  }

  void end(std::string_view why) {
    if (std::exchange(ending_, true)) return;
    log_.event(observe::level::info, "stopping", {{"reason", why}});
    // Another signal finds the default again: whoever asks twice does not want to wait for the drain.
    signals_.cancel();
    signals_.clear();
    look_.cancel();
    gateway_->stop();
  }

  descriptors client_;
  observe::log& log_;
  boost::asio::io_context waiting_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer look_;
  time_point latest_{};
  bool ending_ = false;
  std::unique_ptr<gateway> gateway_;
};

}  // namespace

int run_stdio(const arguments& given, std::ostream& problems) {
  std::optional<config::gateway> settings = read_settings(given, problems);
  if (!settings) return exit_failed;
  const auto client = take_standard_streams();
  if (!client) {
    problems << "switchgear: standard input and output cannot be used: " << std::strerror(errno) << '\n';
    return exit_failed;
  }
  if (settings->threads == 0) settings->threads = 1;  // there is one client
  observe::log log(log_level(settings->log));
  return run(*client, log).go(*std::move(settings), problems);
}

}  // namespace switchgear::app
