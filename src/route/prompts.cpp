#include "route/prompts.hpp"

#include <utility>

namespace switchgear::route {

table<item> merged_prompts(std::span<const upstream_prompts> upstreams, naming how) {
  std::vector<item> all;
  for (const upstream_prompts& from : upstreams) {
    for (const protocol::definition& prompt : from.prompts) {
      std::string name = exported_name(how, from.alias, prompt.key);
      std::string definition = renamed(prompt, name);
      all.push_back({std::move(name), from.index, std::string(from.alias), prompt.key, std::move(definition)});
    }
  }
  return {std::move(all), "prompt"};
}

}  // namespace switchgear::route
