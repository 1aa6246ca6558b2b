#include "app/offers.hpp"

#include "protocol/rewrite.hpp"
#include "protocol/text.hpp"

#include <string>

namespace switchgear::app {

namespace {

constexpr std::array<std::string_view, port::listed_count> members{"tools", "prompts", "resources",
                                                                   "resourceTemplates"};

protocol::server_abilities merged(std::span<const introduction> upstreams) {
  protocol::server_abilities all{.tools = true};
  for (const introduction& one : upstreams) {
    all.prompts |= one.abilities.prompts;
    all.resources |= one.abilities.resources;
    all.subscribe |= one.abilities.subscribe;
    all.completions |= one.abilities.completions;
    all.logging |= one.abilities.logging;
  }
  return all;
}

std::string merged_instructions(std::span<const introduction> upstreams) {
  if (upstreams.size() == 1) return std::string(upstreams.front().instructions);
  std::string text;
  for (const introduction& one : upstreams) {
    if (one.instructions.empty()) continue;
    const std::string_view said = protocol::head(one.instructions, longest_instructions);
    if (text.size() + one.alias.size() + said.size() > all_instructions) break;
    if (!text.empty()) text += "\n\n";
    text.append(one.alias).append(":\n").append(said);
  }
  return text;
}

}  // namespace

port::offer merged_offer(std::span<const introduction> upstreams, const definition_arrays& lists, bool all_tried) {
  const protocol::server_abilities has =
      all_tried ? merged(upstreams) : protocol::server_abilities{true, true, true, true, true, true};
  port::offer made;
  for (unsigned i = 0; i < port::listed_count; ++i) {
    const std::string list = "\"" + std::string(members[i]) + "\":" + std::string(lists[i]) + "}";
    made.legacy[i] = "{" + list;
    made.modern[i].append("{").append(protocol::complete_member).append(protocol::uncacheable_members).append(list);
  }
  made.legacy_capabilities = made.modern_capabilities = protocol::write_server_abilities(has);
  made.instructions = merged_instructions(upstreams);
  made.has = {true, has.prompts, has.resources, has.resources};
  made.completes = has.completions;
  made.subscribes = has.resources && has.subscribe;
  made.logs = has.logging;
  return made;
}

}  // namespace switchgear::app
