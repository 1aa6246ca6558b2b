// What people are told of single scopes: who has trouble of its own, in few lines even when all have it.
#pragma once

#include "base/time.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace switchgear::peers::redis {

/// The first line comes at once; what happens within ten seconds of a line is summed up in the next one. A scope that
/// was in trouble and is well again before anybody was told is not mentioned.
class complaints {
 public:
  static constexpr duration pause = std::chrono::seconds(10);

  void lost(std::string_view scope, std::string_view reason);
  void found(std::string_view scope, std::string_view remark);

  struct line {
    bool healed;
    std::string text;  ///< "search__query: WRONGTYPE ..." and how many others
  };
  /// The next line that is due, if any; ask until there is none.
  std::optional<line> due(time_point now);

 private:
  struct list {
    std::map<std::string, std::string, std::less<>> waiting;  // scope, reason
    std::optional<time_point> last;
  };
  static std::optional<line> due(list& from, bool healed, time_point now);

  list lost_, found_;
};

}  // namespace switchgear::peers::redis
