// The tool servers of the demonstration: two small MCP servers on one loopback port, which behave as they are told.
#pragma once

#include "app/demo_story.hpp"
#include "base/result.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace switchgear::app {

/// Streamable HTTP, legacy era, no sessions, JSON answers. /weather/mcp has the tool `now`, /backup/mcp the tool
/// `forecast`; both take {"city"} and are read-only. Runs on a thread of its own until it is destroyed.
class demo_server {
 public:
  /// Listens on a free loopback port. Error: why there is none.
  static result<std::unique_ptr<demo_server>> start();
  ~demo_server();
  demo_server(const demo_server&) = delete;
  demo_server& operator=(const demo_server&) = delete;

  std::string weather_url() const;
  std::string backup_url() const;

  /// Holds for calls that arrive from now on; hanging calls of an earlier behaviour lose their connection. Thread-safe.
  void behave(behaviour weather, behaviour backup);

 private:
  struct state;
  explicit demo_server(std::unique_ptr<state> started);

  std::unique_ptr<state> state_;
  std::thread thread_;
};

}  // namespace switchgear::app
