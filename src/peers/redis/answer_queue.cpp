#include "peers/redis/answer_queue.hpp"

#include <utility>

namespace switchgear::peers::redis {

void answer_queue::add(entry what) {
  if (const auto present = by_question_.find(what.asked); present != by_question_.end()) {
    entry& before = *present->second;
    if (before.given > what.given) return;
    bytes_ += cost(what);
    bytes_ -= cost(before);
    before = std::move(what);
  } else {
    bytes_ += cost(what);
    const auto at = waiting_.insert(waiting_.end(), std::move(what));
    by_question_.emplace(at->asked, at);
  }
  while (bytes_ > most_) {
    take_first();
    ++dropped_;
  }
}

answer_queue::entry answer_queue::take_first() {
  entry first = std::move(waiting_.front());
  waiting_.pop_front();
  by_question_.erase(first.asked);
  bytes_ -= cost(first);
  return first;
}

std::vector<answer_queue::entry> answer_queue::take(std::size_t entries, std::size_t bytes, time_point now) {
  std::vector<entry> taken;
  std::size_t size = 0;
  while (!waiting_.empty() && taken.size() < entries) {
    size += waiting_.front().result.size();
    if (size > bytes && !taken.empty()) break;
    entry next = take_first();
    if (next.until > now) {
      taken.push_back(std::move(next));
    } else {
      size -= next.result.size();
    }
  }
  return taken;
}

}  // namespace switchgear::peers::redis
