// What an upstream's prompts/list, resources/list and resources/templates/list say. Definitions stay bytes, so that no
// member is lost. Source: MCP 2025-11-25 and 2026-07-28 server/prompts, server/resources; schema Prompt, Resource,
// ResourceTemplate.
#pragma once

#include "base/result.hpp"
#include "protocol/message.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::protocol {

/// What is listed; tools have a reader of their own (tools_list.hpp).
enum class definition_kind : std::uint8_t {
  prompt,             ///< known by its `name`
  resource,           ///< by its `uri`
  resource_template,  ///< by its `uriTemplate`
};

struct definition {
  std::string key;   ///< what it is known by, unescaped
  std::string text;  ///< the whole object as it came
  span key_token;    ///< the key's value in text, with its quotes
};

struct definitions_page {
  std::vector<definition> definitions;
  std::string next_cursor;            ///< raw token for the next request's params.cursor; empty: this was the last page
  std::vector<std::string> problems;  ///< definitions that had to be left out, one line each
};

/// Reads the result (not the whole response) of the list method. A definition that clients could not take (they refuse
/// the whole list for one of those) does not harm the others. Errors: errc::bad_list, errc::not_json, errc::too_deep.
result<definitions_page> read_definitions_page(definition_kind kind, std::string_view result);

/// The definition known by another key; all other bytes as they were.
std::string renamed(const definition& defined, std::string_view key);

}  // namespace switchgear::protocol
