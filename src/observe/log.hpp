// The operator's log: one line an event, key=value, written by a thread of its own.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

namespace spdlog {
class logger;
namespace details {
class thread_pool;
}
}  // namespace spdlog

namespace switchgear::observe {

enum class level : std::uint8_t { off, error, warning, info, debug };

/// One value of an event. Numbers are written by the caller with std::to_string.
struct field {
  std::string_view key;
  std::string_view value;
};

/// `name key=value key="value with spaces"`: one line whatever the values hold. Control characters and quotes are
/// escaped, so that a peer's text cannot forge a second line; values end after 300 bytes with "...".
std::string event_line(std::string_view name, std::initializer_list<field> fields);

/// Thread-safe. A full queue drops the oldest line instead of making the caller wait; dropped() counts them.
/// Never give it header values, tokens, arguments of a call or parts of an answer: nothing is masked here.
class log {
 public:
  /// Lines go to stderr, since stdout belongs to the answers of `switchgear stdio` and of the commands.
  explicit log(level least = level::info);
  /// To a file that is opened for append, for tests and for `demo`, whose terminal is in use. Throws when it cannot
  /// open.
  log(level least, const std::string& path);
  /// Writes what is queued, then ends the thread.
  ~log();
  log(const log&) = delete;
  log& operator=(const log&) = delete;

  void event(level how, std::string_view name, std::initializer_list<field> fields = {});
  bool enabled(level how) const;
  std::uint64_t dropped() const;

 private:
  std::shared_ptr<spdlog::details::thread_pool> thread_;
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace switchgear::observe
