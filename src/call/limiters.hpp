// The concurrency limits of all tools and servers, by name.
#pragma once

#include "call/limiter.hpp"
#include "cascade/concurrency.hpp"
#include "port/limit_figures.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace switchgear::call {

/// Control thread. A limit lives as long as a directory or a call knows it, so that it outlives a change of the
/// catalogue, and names that a server has made up do not stay.
class limiters {
 public:
  /// The limit of that name, the same one for the same name as long as it lives; null when the policy has none.
  std::shared_ptr<limiter> tool(std::string_view exported_name, const cascade::concurrency_policy& policy) {
    return find(false, exported_name, policy);
  }
  std::shared_ptr<limiter> server(std::string_view alias, const cascade::concurrency_policy& policy) {
    return find(true, alias, policy);
  }

  /// All that live: tools, then servers, each by name.
  std::vector<port::limit_figures> figures() const;

 private:
  std::shared_ptr<limiter> find(bool of_server, std::string_view name, const cascade::concurrency_policy& policy);

  std::map<std::pair<bool, std::string>, std::weak_ptr<limiter>> known_;  // by whether it is a server's, and name
};

}  // namespace switchgear::call
