#include "upstream/child_guard.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <set>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace switchgear::upstream {

namespace {

constexpr auto grace = std::chrono::seconds(1);  // between SIGTERM and SIGKILL
constexpr auto look_gap = std::chrono::milliseconds(20);

std::set<pid_t> groups_named_on_stdin() {
  std::set<pid_t> groups;
  std::string line;
  std::array<char, 4096> piece;
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return groups;
    for (const char c : std::string_view(piece.data(), static_cast<std::size_t>(got))) {
      if (c != '\n') {
        line += c;
        continue;
      }
      pid_t group = 0;
      // Never 0 or 1: a signal to those groups would reach everybody.
      if (line.size() > 1) std::from_chars(line.data() + 1, line.data() + line.size(), group);
      if (group > 1 && line[0] == '+') groups.insert(group);
      if (line[0] == '-') groups.erase(group);
      line.clear();
    }
  }
}

bool is_there(pid_t group) {
  return ::kill(-group, 0) == 0 || errno == EPERM;
}

}  // namespace

child_guard::child_guard() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  // A guard that does not read, for whatever reason, must not hold up the gateway.
  ::fcntl(ends[1], F_SETFL, O_NONBLOCK);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  // A session of its own: what is typed at the gateway's terminal is not meant for it.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);

  std::string name = "switchgear", word(guard_command);
  std::array<char*, 3> arguments{name.data(), word.data(), nullptr};
  const bool started = ::posix_spawn(&pid_, "/proc/self/exe", &actions, &attributes, arguments.data(), ::environ) == 0;
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[0]);
  if (started) {
    pipe_ = ends[1];
  } else {
    pid_ = 0;
    ::close(ends[1]);
  }
}

child_guard::~child_guard() {
  if (!running()) return;
  ::close(pipe_);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void child_guard::tell(char what, int group) noexcept {
  if (!running() || group <= 1) return;
  std::array<char, 16> line;
  line[0] = what;
  char* end = std::to_chars(line.data() + 1, line.data() + line.size() - 1, group).ptr;
  *end++ = '\n';
  [[maybe_unused]] const ssize_t written = ::write(pipe_, line.data(), static_cast<std::size_t>(end - line.data()));
}

int run_child_guard() {
  // Whoever stops the gateway politely stops its children through it; the guard is for the other case.
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) std::signal(number, SIG_IGN);
  std::set<pid_t> left = groups_named_on_stdin();
  for (const pid_t group : left) ::kill(-group, SIGTERM);
  const auto due = std::chrono::steady_clock::now() + grace;
  while (!left.empty() && std::chrono::steady_clock::now() < due) {
    std::this_thread::sleep_for(look_gap);
    std::erase_if(left, [](pid_t group) { return !is_there(group); });
  }
  for (const pid_t group : left) ::kill(-group, SIGKILL);
  return 0;
}

}  // namespace switchgear::upstream
