#include "route/catalogue.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace switchgear::route {

namespace {

entry entry_of(const upstream_tools& from, const protocol::tool& tool, naming how) {
  entry made;
  made.name = exported_name(how, from.alias, tool.name);
  made.upstream = from.index;
  made.alias = from.alias;
  made.original = tool.name;
  made.definition = renamed(tool, made.name);
  made.output_schema = tool.output_schema.in(tool.definition);
  made.hints = tool.hints;
  made.task_required = tool.task_required;
  return made;
}

std::string problem_of(const entry& kept, const entry& left_out) {
  std::string line = "tool " + left_out.original + " of " + left_out.alias + " is left out: ";
  if (kept.alias == left_out.alias && kept.original == left_out.original) return line + "it is listed twice";
  return line + "its name " + left_out.name + " is taken by " + kept.original + " of " + kept.alias;
}

}  // namespace

catalogue::catalogue(std::span<const upstream_tools> upstreams, naming how) {
  std::vector<entry> all;
  for (const upstream_tools& from : upstreams) {
    for (const protocol::tool& tool : from.tools) all.push_back(entry_of(from, tool, how));
  }
  // The definition counts too: of a tool that is listed twice, every replica must keep the same one.
  std::sort(all.begin(), all.end(), [](const entry& a, const entry& b) {
    return std::tie(a.name, a.alias, a.original, a.definition) < std::tie(b.name, b.alias, b.original, b.definition);
  });

  entries_.reserve(all.size());
  for (entry& each : all) {
    if (!entries_.empty() && entries_.back().name == each.name) {
      problems_.push_back(problem_of(entries_.back(), each));
    } else {
      entries_.push_back(std::move(each));
    }
  }

  definitions_.clear();
  by_name_.reserve(entries_.size());
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    by_name_.emplace(entries_[i].name, i);
    definitions_ += i == 0 ? '[' : ',';
    definitions_ += entries_[i].definition;
  }
  if (entries_.empty()) definitions_ += '[';
  definitions_ += ']';
}

const entry* catalogue::find(std::string_view exported) const {
  const auto found = by_name_.find(exported);
  return found == by_name_.end() ? nullptr : &entries_[found->second];
}

}  // namespace switchgear::route
