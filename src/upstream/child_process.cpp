#include "upstream/child_process.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <string_view>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace switchgear::upstream {

namespace asio = boost::asio;

namespace {

// Owns a descriptor until somebody else does.
class descriptor {
 public:
  explicit descriptor(int number = -1) : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

struct pipe_ends {
  descriptor read, write;
  bool open() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    read = descriptor(ends[0]);
    write = descriptor(ends[1]);
    return true;
  }
};

class spawn_actions {
 public:
  spawn_actions() { ::posix_spawn_file_actions_init(&actions_); }
  spawn_actions(const spawn_actions&) = delete;
  spawn_actions& operator=(const spawn_actions&) = delete;
  ~spawn_actions() { ::posix_spawn_file_actions_destroy(&actions_); }
  posix_spawn_file_actions_t* operator()() { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

class spawn_attributes {
 public:
  spawn_attributes() {
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t signals;
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    ::sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
  }
  spawn_attributes(const spawn_attributes&) = delete;
  spawn_attributes& operator=(const spawn_attributes&) = delete;
  ~spawn_attributes() { ::posix_spawnattr_destroy(&attributes_); }
  const posix_spawnattr_t* operator()() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

// The gateway's own environment with the configured variables in place of those of the same name.
std::vector<std::string> child_environment(const std::map<std::string, std::string>& added) {
  std::vector<std::string> lines;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view line = *entry;
    if (!added.contains(std::string(line.substr(0, line.find('='))))) lines.emplace_back(line);
  }
  for (const auto& [name, value] : added) lines.push_back(name + "=" + value);
  return lines;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

bool is_directory(const std::string& path) {
  struct stat seen{};
  return ::stat(path.c_str(), &seen) == 0 && S_ISDIR(seen.st_mode);
}

// A pidfd. The C library's own function has no declaration that C++ can use before glibc 2.37.
int open_handle(pid_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

// posix_spawn reports a missing directory and a missing program by the same number.
std::string spawn_failure(const port::stdio_upstream_settings& settings, int error) {
  if (!settings.directory.empty() && !is_directory(settings.directory)) {
    return "working directory \"" + settings.directory + "\" is no directory";
  }
  return "command \"" + settings.command.front() + "\" cannot be started: " + std::strerror(error);
}

// Address space would be the wrong measure of memory: runtimes reserve gigabytes that they never touch.
bool limit(pid_t pid, __rlimit_resource resource, std::size_t most) {
  rlimit present{};
  if (most == 0) return true;
  if (::prlimit(pid, resource, nullptr, &present) != 0) return false;
  const rlim_t wanted = std::min<rlim_t>(most, present.rlim_max);
  const rlimit fresh{wanted, wanted};
  return ::prlimit(pid, resource, &fresh, nullptr) == 0;
}

// Nobody else reaps this child, so its number is still its own here.
void end_at_once(pid_t pid) {
  ::kill(-pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
}

}  // namespace

std::string child_end::text() const {
  if (signal == 0) return "exited with status " + std::to_string(status);
  const char* description = ::sigdescr_np(signal);
  return "was ended by signal " + std::to_string(signal) + " (" + (description ? description : "unknown") + ")";
}

std::optional<child_process> child_process::start(asio::io_context& io, const port::stdio_upstream_settings& settings,
                                                  std::string& why, child_guard* guard) {
  pipe_ends input;
  pipe_ends output;
  pipe_ends errors;
  if (!input.open() || !output.open() || !errors.open()) {
    why = "no pipe for command \"" + settings.command.front() + "\": " + std::strerror(errno);
    return std::nullopt;
  }

  spawn_actions actions;
  ::posix_spawn_file_actions_adddup2(actions(), input.read.number(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(actions(), output.write.number(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(actions(), errors.write.number(), STDERR_FILENO);
  // Sockets that Asio opened are not close-on-exec; a child that kept one would keep a client's connection open.
  ::posix_spawn_file_actions_addclosefrom_np(actions(), STDERR_FILENO + 1);
  if (!settings.directory.empty()) ::posix_spawn_file_actions_addchdir_np(actions(), settings.directory.c_str());

  const spawn_attributes attributes;
  std::vector<std::string> arguments = settings.command;
  std::vector<std::string> environment = child_environment(settings.environment);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, arguments.front().c_str(), actions(), attributes(), pointers(arguments).data(),
                                   pointers(environment).data());
  if (error != 0) {
    why = spawn_failure(settings, error);
    return std::nullopt;
  }

  descriptor handle(open_handle(pid));
  if (handle.number() < 0) {
    why = std::string("no handle for a child: ") + std::strerror(errno);
    end_at_once(pid);
    return std::nullopt;
  }
  // posix_spawn cannot set limits; a child that has only just begun has nothing yet that they would come too late for.
  if (!limit(pid, RLIMIT_DATA, settings.memory_limit) || !limit(pid, RLIMIT_NOFILE, settings.open_files)) {
    why = std::string("a child cannot be limited: ") + std::strerror(errno);
    end_at_once(pid);
    return std::nullopt;
  }
  return child_process(io, pid, handle.release(), input.write.release(), output.read.release(), errors.read.release(),
                       guard);
}

child_process::child_process(asio::io_context& io, int pid, int handle, int input, int output, int errors,
                             child_guard* guard)
    : pid_(pid), guard_(guard), handle_(io, handle), input_(io, input), output_(io, output), errors_(io, errors) {
  if (guard_ != nullptr) guard_->watch(pid_);
}

child_process::child_process(child_process&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      guard_(other.guard_),
      handle_(std::move(other.handle_)),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      errors_(std::move(other.errors_)) {}

child_process::~child_process() {
  if (pid_ != 0) reap();
}

asio::awaitable<child_end> child_process::ended() {
  co_await handle_.async_wait(asio::posix::descriptor_base::wait_read, asio::as_tuple(asio::use_awaitable));
  co_return reap();
}

void child_process::signal_group(int number) noexcept {
  if (pid_ != 0) ::kill(-pid_, number);
}

child_end child_process::reap() noexcept {
  // Before the child is reaped its number, and so its group's, cannot be given to another process.
  signal_group(SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  if (guard_ != nullptr) guard_->forget(pid_);
  pid_ = 0;
  if (WIFSIGNALED(status)) return {0, WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace switchgear::upstream
