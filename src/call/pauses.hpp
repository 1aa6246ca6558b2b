// Which tools are left alone since they asked for fewer calls: by this replica's calls, and by those of the others.
#pragma once

#include "cascade/pause.hpp"
#include "port/client.hpp"
#include "port/pauses.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::call {

struct tool;

/// Whose quota a call of the tool uses up: "" for the operator's own credential, which all callers share.
std::string_view credential_of(const tool& called, const port::client& client);

/// One tool's. Any thread.
class tool_pause {
 public:
  /// `others` may be null; else it outlives this.
  tool_pause(std::string name, port::pauses* others) : name_(std::move(name)), others_(others) {}

  /// For how long it is to be left alone yet, 0 if not at all. While it is for nobody: one relaxed load.
  duration left(std::string_view credential, time_point now) const {
    return state_.longest(now) > duration::zero() ? left_of(credential, now) : duration::zero();
  }
  /// The tool has answered that it wants no calls for so long. The other replicas are told.
  void begin(std::string_view credential, duration length, time_point now);
  /// Another replica was answered so, by a call with the credential that it calls `shared_credential`.
  void hear(std::string_view shared_credential, duration left, time_point now) {
    state_.lengthen(shared_credential, now + left, now);
  }

  port::throttled_tool shown(time_point now) const;

 private:
  duration left_of(std::string_view credential, time_point now) const;

  const std::string name_;
  port::pauses* const others_;
  cascade::pause state_;  // by shared credentials
  std::atomic<std::uint64_t> answers_{0};
};

/// All tools'. A tool that is not listed yet, or no more, has its pause all the same.
class pauses {
 public:
  /// More tools than these are not heard of from others, so that no replica can fill another one's memory.
  static constexpr std::size_t most_heard = 10'000;

  /// `others`: null if there are none; else it outlives this, and has not been started.
  explicit pauses(port::pauses* others);

  /// The same for the same name, alive as long as this. Control thread.
  tool_pause& of(std::string_view exported_name);

  /// The tools that have asked for fewer calls, by name. Any thread.
  std::vector<port::throttled_tool> shown(time_point now) const;

 private:
  void hear(std::string_view name, duration left);

  port::pauses* const others_;
  mutable std::mutex mutex_;  // of what follows
  std::map<std::string, std::unique_ptr<tool_pause>, std::less<>> tools_;
};

}  // namespace switchgear::call
