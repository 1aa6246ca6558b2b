// The credential with which a principal's own session goes to its server.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace switchgear::upstream {

/// Header lines, each with its line end: those of the session's latest call. Any thread.
class latest_credential {
 public:
  explicit latest_credential(std::string lines) : lines_(std::make_shared<const std::string>(std::move(lines))) {}

  /// Never null.
  std::shared_ptr<const std::string> now() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

  void use(std::string_view lines) {
    const std::lock_guard lock(mutex_);
    if (*lines_ != lines) lines_ = std::make_shared<const std::string>(lines);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const std::string> lines_;
};

}  // namespace switchgear::upstream
