#include "protocol/tools_list.hpp"
#include "targets.hpp"

#include <string>

namespace switchgear::fuzz {

void tools_list(std::string_view input) {
  const auto page = protocol::read_tools_page(input);
  if (!page) return;
  for (const protocol::tool& tool : page->tools) {
    const std::string list = "{\"tools\":[" + protocol::renamed(tool, "other") + "]}";
    const auto again = protocol::read_tools_page(list);
    must(again && again->tools.size() == 1 && again->problems.empty(), "a renamed tool is a tool");
    must(again->tools[0].name == "other", "it has the new name");
    must(again->tools[0].output_schema.in(again->tools[0].definition) == tool.output_schema.in(tool.definition),
         "its schema stays");
    must(again->tools[0].hints.read_only == tool.hints.read_only, "its hints stay");
  }
}

}  // namespace switchgear::fuzz
