#include "peers/redis/mailbag.hpp"

#include <utility>

namespace switchgear::peers::redis {

void mailbag::drop_first() {
  bytes_ -= waiting_.front().bytes.size();
  waiting_.pop_front();
  ++dropped_;
}

void mailbag::put(std::string bytes, time_point now) {
  bytes_ += bytes.size();
  waiting_.push_back({std::move(bytes), now});
  while (bytes_ > most_bytes || waiting_.size() > most_mails) drop_first();
}

std::vector<std::string> mailbag::take(time_point now) {
  while (!waiting_.empty() && now - waiting_.front().put > lifetime) drop_first();
  std::vector<std::string> taken;
  std::size_t size = 0;
  while (!waiting_.empty()) {
    std::string& next = waiting_.front().bytes;
    if (!taken.empty() && size + next.size() > load) break;
    size += next.size();
    taken.push_back(std::move(next));
    waiting_.pop_front();
  }
  bytes_ -= size;
  return taken;
}

}  // namespace switchgear::peers::redis
