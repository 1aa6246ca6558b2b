#include "peers/redis/complaints.hpp"

namespace switchgear::peers::redis {

void complaints::lost(std::string_view scope, std::string_view reason) {
  if (const auto untold = found_.waiting.find(scope); untold != found_.waiting.end()) {
    found_.waiting.erase(untold);  // as people know it: in trouble
    return;
  }
  lost_.waiting.insert_or_assign(std::string(scope), std::string(reason));
}

void complaints::found(std::string_view scope, std::string_view remark) {
  if (const auto untold = lost_.waiting.find(scope); untold != lost_.waiting.end()) {
    lost_.waiting.erase(untold);
    return;
  }
  found_.waiting.insert_or_assign(std::string(scope), std::string(remark));
}

std::optional<complaints::line> complaints::due(time_point now) {
  if (auto first = due(lost_, false, now)) return first;
  return due(found_, true, now);
}

std::optional<complaints::line> complaints::due(list& from, bool healed, time_point now) {
  if (from.waiting.empty() || (from.last && now - *from.last < pause)) return std::nullopt;
  const auto& [scope, reason] = *from.waiting.begin();
  line made{healed, scope + ": " + reason};
  if (from.waiting.size() > 1) made.text += " (and " + std::to_string(from.waiting.size() - 1) + " more scopes)";
  from.waiting.clear();
  from.last = now;
  return made;
}

}  // namespace switchgear::peers::redis
