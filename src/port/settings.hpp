// Plain settings of the I/O folders, filled by config. Every field has a key in docs/configuration.md.
#pragma once

#include "base/time.hpp"
#include "protocol/version.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace switchgear::port {

struct listen_settings {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;
  std::size_t max_request = 4 * 1024 * 1024;  ///< bytes of a request body; above it: 413
  std::string principal;                      ///< header that names who calls; empty: no header does
  std::vector<std::string> credentials;       ///< headers that upstreams get as they came; without that name they tell
                                              ///< callers apart
  std::vector<std::string> allowed_hosts;     ///< Host values accepted besides the loopback names; "*" accepts all
  std::vector<std::string> allowed_origins;   ///< Origin values accepted besides loopback origins; "*" accepts all
  duration session_idle = std::chrono::minutes(30);  ///< a session unused for this long is forgotten
  std::size_t max_sessions = 10'000;
  std::string session_key;  ///< a text that session ids are sealed with, at least 16 characters; empty: made up
  duration drain = std::chrono::seconds(5);  ///< after SIGTERM: how long calls may still finish
};

struct http_upstream_settings {
  std::string url;                                           ///< http://host:port/path or https://...
  std::vector<std::pair<std::string, std::string>> headers;  ///< sent with every request
  std::vector<std::string> forward;  ///< names, in lower case, of headers that go on as the caller sent them
  std::string ca_file;               ///< PEM bundle to trust instead of the system's; empty: the system's
  bool sse = false;                  ///< the transport is HTTP with SSE (2024-11-05), and nothing else is tried
};

struct stdio_upstream_settings {
  std::vector<std::string> command;                ///< argv, at least one
  std::map<std::string, std::string> environment;  ///< added to the gateway's own
  std::string directory;                           ///< working directory; empty: the gateway's
  std::size_t memory_limit = 0;  ///< bytes of private memory that each of its processes may have (RLIMIT_DATA); 0: any
  std::size_t open_files = 0;    ///< descriptors that each of its processes may have (RLIMIT_NOFILE); 0: any
  duration probe_timeout = std::chrono::seconds(2);  ///< how long a child may think about being asked for its era
};

struct upstream_settings {
  std::string alias;
  bool is_stdio = false;
  std::optional<protocol::era> era;  ///< what the server is taken to speak; unset: it is asked
  http_upstream_settings http;
  stdio_upstream_settings stdio;
  duration connect_timeout = std::chrono::seconds(5);     ///< DNS, TCP and TLS together
  duration handshake_timeout = std::chrono::seconds(20);  ///< initialize and each page of tools/list
  duration refresh = std::chrono::minutes(5);             ///< how often tools/list is asked again
  std::size_t max_answer = 50 * 1024 * 1024;              ///< bytes of one message; above it the call fails
  std::size_t max_connections = 1024;                     ///< per gateway thread
  duration keep_alive = std::chrono::seconds(4);          ///< how long an unused connection is kept
  std::size_t own_sessions = 100;                         ///< most sessions of one client or principal alone; 0: none
};

}  // namespace switchgear::port
