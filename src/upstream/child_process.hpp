// One child process: started, watched, ended, reaped.
#pragma once

#include "port/settings.hpp"
#include "upstream/child_guard.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <optional>
#include <string>

namespace switchgear::upstream {

/// How a process ended: a sentence such as "exited with status 1" or "was ended by signal 9 (Killed)".
struct child_end {
  int status = 0;  ///< exit status, when it was not a signal
  int signal = 0;  ///< the signal, or 0
  std::string text() const;
};

/// A running child in a process group of its own, with pipes on its three standard streams. It inherits no other
/// descriptor, no blocked signal and no ignored one. Owned by one thread.
///
/// The destructor leaves nothing behind: it kills the group and reaps the child, which takes the kernel a moment.
/// A gateway that is itself killed cannot do that, but its guard can.
class child_process {
 public:
  /// Starts the configured command, looked up in PATH. On failure `why` is one line for people, naming the command or
  /// the directory, and the result is empty. `guard`, which outlives the child, may be null.
  static std::optional<child_process> start(boost::asio::io_context& io, const port::stdio_upstream_settings& settings,
                                            std::string& why, child_guard* guard = nullptr);

  child_process(child_process&& other) noexcept;
  child_process& operator=(child_process&&) = delete;
  ~child_process();

  boost::asio::posix::stream_descriptor& input() { return input_; }    ///< the child's stdin
  boost::asio::posix::stream_descriptor& output() { return output_; }  ///< its stdout
  boost::asio::posix::stream_descriptor& errors() { return errors_; }  ///< its stderr
  int pid() const { return pid_; }

  /// Completes when the child has ended, having killed what is left of its group and reaped it. Call once.
  boost::asio::awaitable<child_end> ended();

  /// Sends a signal to the whole group; nothing when the child has been reaped.
  void signal_group(int number) noexcept;

 private:
  child_process(boost::asio::io_context& io, int pid, int handle, int input, int output, int errors,
                child_guard* guard);
  child_end reap() noexcept;

  int pid_;  // also the number of its process group; 0 once reaped
  child_guard* guard_ = nullptr;
  boost::asio::posix::stream_descriptor handle_;  // a pidfd: readable when the child has ended
  boost::asio::posix::stream_descriptor input_;
  boost::asio::posix::stream_descriptor output_;
  boost::asio::posix::stream_descriptor errors_;
};

}  // namespace switchgear::upstream
