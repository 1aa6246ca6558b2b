#include "breaker/window.hpp"

#include <algorithm>

namespace switchgear::breaker {

void window::advance(time_point now) {
  const std::int64_t to = now.time_since_epoch() / second;
  const auto size = static_cast<std::int64_t>(slots_.size());
  if (to - head_ >= size) {
    clear();
  } else {
    for (std::int64_t at = head_ + 1; at <= to; ++at) {
      counts& oldest = slots_[static_cast<std::size_t>(at % size)];
      total_ -= oldest;
      oldest = {};
    }
  }
  head_ = std::max(head_, to);
}

void window::add(const counts& more) {
  slots_[static_cast<std::size_t>(head_ % static_cast<std::int64_t>(slots_.size()))] += more;
  total_ += more;
}

void window::clear() {
  std::fill(slots_.begin(), slots_.end(), counts{});
  total_ = {};
}

counts window::recount() const {
  counts sum;
  for (const counts& slot : slots_) sum += slot;
  return sum;
}

void last_second::advance(time_point now) {
  const std::int64_t to = now.time_since_epoch() / tenth;
  if (to - head_ >= slots) {
    std::fill(std::begin(slots_), std::end(slots_), 0);
    total_ = 0;
  } else {
    for (std::int64_t at = head_ + 1; at <= to; ++at) {
      total_ -= slots_[at % slots];
      slots_[at % slots] = 0;
    }
  }
  head_ = std::max(head_, to);
}

void last_second::add(std::uint64_t events, time_point now) {
  advance(now);
  slots_[head_ % slots] += events;
  total_ += events;
}

std::uint64_t last_second::sum(time_point now) {
  advance(now);
  return total_;
}

}  // namespace switchgear::breaker
