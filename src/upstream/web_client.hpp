// Plain HTTP endpoints for http steps, over the same connections and transfers as the tool servers.
#pragma once

#include "async/worker.hpp"
#include "port/web.hpp"
#include "upstream/http_transfer.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::upstream {

/// Idle connections are kept by each worker for each origin. Outlives the loops of all workers, and is destroyed before
/// they are.
class web_client final : public port::web {
 public:
  /// `workers` has every worker that may fetch, by its index. `max_answer`: bytes of one answer.
  web_client(std::vector<async::worker*> workers, std::size_t max_answer);
  ~web_client();

  port::web_origin& origin(std::string_view url) override;

 private:
  class place;

  std::vector<async::worker*> workers_;
  std::size_t max_answer_;
  std::map<std::string, std::unique_ptr<place>, std::less<>> places_;  // by origin
};

}  // namespace switchgear::upstream
