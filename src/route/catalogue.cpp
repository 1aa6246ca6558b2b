#include "route/catalogue.hpp"

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
  made.mirrored = tool.headers.arguments;
  return made;
}

std::vector<entry> entries_of(std::span<const upstream_tools> upstreams, naming how) {
  std::vector<entry> all;
  for (const upstream_tools& from : upstreams) {
    for (const protocol::tool& tool : from.tools) all.push_back(entry_of(from, tool, how));
  }
  return all;
}

}  // namespace

catalogue::catalogue(std::span<const upstream_tools> upstreams, naming how)
    : tools_(entries_of(upstreams, how), "tool") {}

}  // namespace switchgear::route
