#include "upstream/connection_pool.hpp"

#include <algorithm>
#include <utility>

namespace switchgear::upstream {

std::unique_ptr<stream> connection_pool::take() {
  const time_point now = idle_.empty() ? time_point() : async::worker::now();
  while (!idle_.empty()) {
    const bool is_fresh = now - idle_.back().since < keep_alive_;
    std::unique_ptr<stream> newest = std::move(idle_.back().connection);
    idle_.pop_back();
    if (is_fresh && !newest->stale()) return newest;
    closed();
  }
  return nullptr;
}

void connection_pool::give(std::unique_ptr<stream> connection, time_point now) {
  idle_.push_back({std::move(connection), now});
  if (!armed()) on_.timers.arm(*this, now + keep_alive_);
}

void connection_pool::close_idle() {
  open_ -= idle_.size();
  idle_.clear();
  disarm();
}

void connection_pool::fire() {
  const time_point now = async::worker::now();
  const auto fresh = std::ranges::find_if(idle_, [&](const idle& one) { return now - one.since < keep_alive_; });
  open_ -= static_cast<std::size_t>(fresh - idle_.begin());
  idle_.erase(idle_.begin(), fresh);
  if (!idle_.empty()) on_.timers.arm(*this, idle_.front().since + keep_alive_);
}

}  // namespace switchgear::upstream
