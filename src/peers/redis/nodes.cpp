#include "peers/redis/nodes.hpp"

#include <algorithm>
#include <utility>

namespace switchgear::peers::redis {

node::node(boost::asio::io_context& io, port::redis_settings::host at)
    : where(std::move(at)), place(place_of(where)), line(io) {}

nodes::nodes(boost::asio::io_context& io, port::redis_settings::layout shape) : io_(io) {
  if (shape == port::redis_settings::layout::cluster) homes_.resize(slot_count);
}

void nodes::keep_only(std::vector<host> places) {
  std::erase_if(by_place_, [&](const auto& each) {
    if (std::ranges::find(places, each.second->where) != places.end()) return false;
    each.second->line.close();
    return true;
  });
  for (host& each : places) {
    auto& found = by_place_[place_of(each)];
    if (!found) found = std::make_shared<node>(io_, std::move(each));
  }
}

void nodes::take(const std::vector<slot_range>& map) {
  std::vector<host> places;
  for (const slot_range& each : map) {
    if (std::ranges::find(places, each.primary) == places.end()) places.push_back(each.primary);
  }
  keep_only(std::move(places));
  std::ranges::fill(homes_, nullptr);
  for (const slot_range& each : map) {
    std::fill(homes_.begin() + each.first, homes_.begin() + each.last + 1, at(each.primary));
  }
}

std::shared_ptr<node> nodes::of(unsigned slot) const {
  if (are_cluster()) return homes_[slot];
  return by_place_.empty() ? nullptr : by_place_.begin()->second;
}

std::shared_ptr<node> nodes::at(const host& where) const {
  const auto found = by_place_.find(place_of(where));
  return found == by_place_.end() ? nullptr : found->second;
}

bool nodes::any_usable() const {
  return std::ranges::any_of(by_place_, [](const auto& each) { return each.second->usable(); });
}

bool nodes::all_usable() const {
  return std::ranges::all_of(by_place_, [](const auto& each) { return each.second->usable(); });
}

}  // namespace switchgear::peers::redis
