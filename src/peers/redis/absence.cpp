#include "peers/redis/absence.hpp"

#include <algorithm>

namespace switchgear::peers::redis {

bool absence::missed(time_point now, double random) {
  if (!alone_ && ++misses_ < misses_allowed) return false;
  return give_up(now, random);
}

bool absence::refused(time_point now, double random) {
  return give_up(now, random);
}

bool absence::give_up(time_point now, double random) {
  const bool news = !alone_;
  if (news) {
    alone_ = true;
    since_ = now;
    retry_after_ = first_retry;
  } else {
    retry_after_ = std::min(retry_after_ * 2, last_retry);
  }
  const double share = 0.5 + random / 2;
  retry_at_ = now + duration(static_cast<duration::rep>(static_cast<double>(retry_after_.count()) * share));
  return news;
}

std::optional<duration> absence::found(time_point now) {
  misses_ = 0;
  if (!alone_) return std::nullopt;
  alone_ = false;
  return now - since_;
}

}  // namespace switchgear::peers::redis
