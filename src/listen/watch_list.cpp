#include "listen/watch_list.hpp"

#include "protocol/subscription.hpp"

namespace switchgear::listen {

watch_list::watchers& watch_list::watchers_of(std::string_view uri, bool& changed) {
  const auto found = by_uri_.find(uri);
  if (found != by_uri_.end()) return found->second;
  changed = true;
  return by_uri_.emplace(uri, watchers{}).first->second;
}

// True if nobody wants it any more.
bool watch_list::drop(std::string_view uri, std::string_view session) {
  const auto found = by_uri_.find(uri);
  if (found == by_uri_.end()) return false;
  const auto one = found->second.sessions.find(session);
  if (one != found->second.sessions.end()) found->second.sessions.erase(one);
  if (!found->second.none()) return false;
  by_uri_.erase(found);
  return true;
}

bool watch_list::subscribe(std::string_view session, std::string_view uri) {
  bool changed = false;
  {
    const std::lock_guard lock(mutex_);
    auto& own = by_session_.try_emplace(std::string(session)).first->second;
    if (own.contains(uri)) return true;
    if (own.size() == protocol::most_watched) return false;
    own.emplace(uri);
    watchers_of(uri, changed).sessions.emplace(session);
  }
  if (changed) on_change_();
  return true;
}

void watch_list::unsubscribe(std::string_view session, std::string_view uri) {
  bool changed = false;
  {
    const std::lock_guard lock(mutex_);
    const auto own = by_session_.find(session);
    if (own == by_session_.end()) return;
    const auto one = own->second.find(uri);
    if (one == own->second.end()) return;
    own->second.erase(one);
    if (own->second.empty()) by_session_.erase(own);
    changed = drop(uri, session);
  }
  if (changed) on_change_();
}

void watch_list::forget(std::string_view session) {
  bool changed = false;
  {
    const std::lock_guard lock(mutex_);
    const auto own = by_session_.find(session);
    if (own == by_session_.end()) return;
    for (const std::string& uri : own->second) changed |= drop(uri, session);
    by_session_.erase(own);
  }
  if (changed) on_change_();
}

void watch_list::add(const std::vector<std::string>& uris) {
  bool changed = false;
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& uri : uris) ++watchers_of(uri, changed).streams;
  }
  if (changed) on_change_();
}

void watch_list::remove(const std::vector<std::string>& uris) {
  bool changed = false;
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& uri : uris) {
      const auto found = by_uri_.find(uri);
      if (found == by_uri_.end() || found->second.streams == 0) continue;
      --found->second.streams;
      if (!found->second.none()) continue;
      by_uri_.erase(found);
      changed = true;
    }
  }
  if (changed) on_change_();
}

std::vector<std::string> watch_list::sessions_of(std::string_view uri) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_uri_.find(uri);
  if (found == by_uri_.end()) return {};
  return {found->second.sessions.begin(), found->second.sessions.end()};
}

std::vector<std::string> watch_list::resources() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> uris;
  for (const auto& [uri, who] : by_uri_) uris.push_back(uri);
  return uris;
}

}  // namespace switchgear::listen
