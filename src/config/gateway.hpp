// The whole configuration as one plain value: read once, checked, never changed afterwards.
#pragma once

#include "breaker/settings.hpp"
#include "port/policy.hpp"
#include "port/settings.hpp"
#include "port/shared_state.hpp"
#include "route/names.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::config {

/// Where the admin API, the metrics and the console listen.
struct admin_settings {
  std::string address = "127.0.0.1";
  std::uint16_t port = 9090;
  bool named = false;  ///< somebody asked for it, so that it is there even where it is not by default
};

/// Bounds of the store of last good answers.
struct cache_settings {
  std::size_t memory = 64 * 1024 * 1024;          ///< bytes in all; 0: nothing is kept
  std::size_t entry = 1024 * 1024;                ///< bytes of one answer; a larger one is not kept
  std::size_t shared_memory = 256 * 1024 * 1024;  ///< bytes in Redis, of all replicas; 0: none tells of its own
};

/// A configured tool server and the breaker that watches it as a whole.
struct upstream {
  port::upstream_settings link;
  breaker::settings breaker;
  double retry_budget = 0.1;                ///< retries a call, 0 to 1
  cascade::concurrency_policy concurrency;  ///< of all requests to it together
};

/// What one entry of `tools` sets. The pattern is an exported tool name, or the beginning of one with `*` after it.
struct tool_rule {
  std::string pattern;
  std::vector<std::function<void(port::tool_policy&)>> changes;  ///< one for each key that the rule sets
};

/// Everything that a gateway needs to start. The members' defaults are what an empty file means.
struct gateway {
  port::listen_settings listen;
  admin_settings admin;
  std::string state = "memory";  ///< where breakers are kept: "memory", or the URL of a Redis that replicas share
  port::redis_settings redis;    ///< what the URL does not say
  route::naming names = route::naming::prefix;
  unsigned threads = 0;      ///< data threads; 0: as many as the machine has cores
  std::string log = "info";  ///< least level that is logged: debug, info, warn, error or off
  std::size_t max_answer = port::upstream_settings{}.max_answer;  ///< of every upstream, which has it in its link
  cache_settings cache;
  breaker::settings breaker;        ///< what every breaker starts from
  std::vector<upstream> upstreams;  ///< in the order of the file
  std::vector<tool_rule> tools;     ///< from the least to the most specific pattern

  /// An upstream of that alias, not yet reached by anything, with what the top level says for all of them.
  upstream new_upstream(std::string alias) const;

  /// What holds for a tool: the defaults, then each matching rule from the shortest pattern with `*` to the exact name,
  /// every rule changing only the keys that it sets. Thread-safe.
  port::tool_policy policy_for(std::string_view exported_name) const;

  /// `listen`, with the headers that some upstream is given as they came.
  port::listen_settings listening() const;

  /// The Redis of `state`, with all that the keys of `redis` add to it; nothing for "memory".
  std::optional<port::redis_settings> shared_state() const;
};

/// What is wrong with a value of `state`, as a sentence; empty when it is good. For the command line's option too.
std::string state_fault(const std::string& state);

/// Most data threads.
inline constexpr unsigned most_threads = 1024;

/// Whether a pattern of `tools` covers a tool.
bool matches(std::string_view pattern, std::string_view exported_name);

}  // namespace switchgear::config
