#include "protocol/definitions_list.hpp"
#include "targets.hpp"

#include <iterator>
#include <string>

namespace switchgear::fuzz {

void definitions(std::string_view input) {
  using protocol::definition_kind;
  constexpr std::string_view arrays[] = {"prompts", "resources", "resourceTemplates"};
  constexpr definition_kind kinds[] = {definition_kind::prompt, definition_kind::resource,
                                       definition_kind::resource_template};
  for (std::size_t i = 0; i < std::size(kinds); ++i) {
    const auto page = protocol::read_definitions_page(kinds[i], input);
    if (!page) continue;
    for (const protocol::definition& one : page->definitions) {
      must(!one.key.empty(), "what is listed has a key");
      const std::string list = "{\"" + std::string(arrays[i]) + "\":[" + protocol::renamed(one, "other") + "]}";
      const auto again = protocol::read_definitions_page(kinds[i], list);
      must(again && again->definitions.size() == 1 && again->problems.empty(), "a renamed one is as good");
      must(again->definitions[0].key == "other", "it has the new key");
      must(protocol::renamed(again->definitions[0], one.key).size() <= one.text.size() + 6 * one.key.size(),
           "nothing else has grown");
    }
  }
}

}  // namespace switchgear::fuzz
