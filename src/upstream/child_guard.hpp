// Ends the children of a gateway that died without ending them itself: killed, or crashed.
#pragma once

#include <string_view>

namespace switchgear::upstream {

/// The word on the command line that makes the program a guard; not for people.
inline constexpr std::string_view guard_command = "child-guard";

/// A process of its own that reads which process groups there are from a pipe, until the pipe ends because the gateway
/// has. Whatever group is left then gets SIGTERM, and SIGKILL a second later. An MCP server that is told nothing ends
/// by the end of its stdin, but not every one does, and what it has started does not even have that.
///
/// One thread. Where the guard cannot be started, or is killed, the children are as well off as without it.
class child_guard {
 public:
  /// Starts the program that is running as its guard.
  child_guard();
  /// The guard ends with it, at once, since every group has been forgotten by then.
  ~child_guard();
  child_guard(const child_guard&) = delete;
  child_guard& operator=(const child_guard&) = delete;

  /// `group` has been started; it has been reaped. Never wait.
  void watch(int group) noexcept { tell('+', group); }
  void forget(int group) noexcept { tell('-', group); }

  bool running() const { return pipe_ >= 0; }

 private:
  void tell(char what, int group) noexcept;

  int pipe_ = -1;
  int pid_ = 0;
};

/// What the guard does: reads standard input to its end. The program's exit code.
int run_child_guard();

}  // namespace switchgear::upstream
