#include "config/fallback_circles.hpp"

#include "config/fallback.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace switchgear::config {
namespace {

/// A tool with a fallback of its own, and how far the search has come with it.
struct stop {
  field rule;
  std::vector<std::string> targets;  // by step; empty: no tool step
  enum class search { new_to_us, on_the_way, done } state = search::new_to_us;
  std::size_t next = 0;
};

using map_of_stops = std::map<std::string, stop, std::less<>>;

map_of_stops read_stops(const field& at, const gateway& made) {
  map_of_stops all;
  for (const tool_rule& rule : made.tools) {
    const field place = at.nearest(rule.pattern);
    if (rule.pattern.ends_with('*') || place.at().find("fallback") == nullptr) continue;
    std::vector<std::string> targets;
    for (const cascade::step& step : made.policy_for(rule.pattern).fallback.steps) {
      const auto* tool = std::get_if<cascade::tool_step>(&step);
      targets.push_back(tool != nullptr ? tool->name : std::string());
    }
    all.emplace(rule.pattern, stop{place, std::move(targets)});
  }
  return all;
}

void report(const std::vector<map_of_stops::iterator>& way, std::size_t from) {
  std::string path;
  for (std::size_t i = from; i < way.size(); ++i) path += way[i]->first + " -> ";
  path += way[from]->first;
  const stop& last = way.back()->second;
  place_of_step(last.rule, last.next - 1).fail("closes a circle of fallbacks: " + path + "; leave one of them out");
}

/// Goes on from the last stop of the way by one step.
void advance(map_of_stops& all, std::vector<map_of_stops::iterator>& way) {
  stop& here = way.back()->second;
  if (here.next == here.targets.size()) {
    here.state = stop::search::done;
    way.pop_back();
    return;
  }
  const auto target = all.find(here.targets[here.next++]);
  // A tool that is its own fallback has been reported.
  if (target == all.end() || target == way.back()) return;
  if (target->second.state == stop::search::on_the_way) {
    report(way, static_cast<std::size_t>(std::ranges::find(way, target) - way.begin()));
  } else if (target->second.state == stop::search::new_to_us) {
    target->second.state = stop::search::on_the_way;
    way.push_back(target);
  }
}

}  // namespace

void check_circles(const field& at, const gateway& made) {
  map_of_stops all = read_stops(at, made);
  for (auto begin = all.begin(); begin != all.end(); ++begin) {
    if (begin->second.state != stop::search::new_to_us) continue;
    begin->second.state = stop::search::on_the_way;
    for (std::vector<map_of_stops::iterator> way{begin}; !way.empty();) advance(all, way);
  }
}

}  // namespace switchgear::config
