// Which resources clients want to hear of, and who wants it.
// Source: MCP 2025-11-25 server/resources "Subscriptions"; 2026-07-28 subscriptions/listen.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::listen {

/// Thread-safe. Legacy sessions subscribe one resource after the other and keep them until they end; a modern client's
/// stream brings all of its own and takes them away with it.
class watch_list {
 public:
  /// `on_change` is called, on whatever thread and without a lock, when resources() has become another set.
  explicit watch_list(std::function<void()> on_change) : on_change_(std::move(on_change)) {}

  /// False if the session has as many as one may have (protocol::most_watched).
  bool subscribe(std::string_view session, std::string_view uri);
  void unsubscribe(std::string_view session, std::string_view uri);
  /// The session has ended.
  void forget(std::string_view session);

  void add(const std::vector<std::string>& uris);
  void remove(const std::vector<std::string>& uris);

  /// The sessions that subscribed to this resource.
  std::vector<std::string> sessions_of(std::string_view uri) const;
  /// All that are watched, ordered.
  std::vector<std::string> resources() const;

 private:
  struct watchers {
    std::size_t streams = 0;
    std::set<std::string, std::less<>> sessions;
    bool none() const { return streams == 0 && sessions.empty(); }
  };

  watchers& watchers_of(std::string_view uri, bool& changed);
  bool drop(std::string_view uri, std::string_view session);

  std::function<void()> on_change_;
  mutable std::mutex mutex_;
  std::map<std::string, watchers, std::less<>> by_uri_;
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> by_session_;
};

}  // namespace switchgear::listen
