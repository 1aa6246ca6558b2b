// What an upstream's tools/list says. Definitions stay bytes, so that no member is lost (RC-044).
// Source: MCP 2025-11-25 and 2026-07-28 server/tools, schema Tool, ToolAnnotations, ToolExecution.
#pragma once

#include "base/result.hpp"
#include "protocol/message.hpp"
#include "protocol/schema_headers.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::protocol {

/// What the server says of a tool. Untrusted; absent means that it said nothing.
struct tool_hints {
  std::optional<bool> read_only, idempotent, destructive, open_world;
  std::string idempotency_key;  ///< _meta["dev.switchgear/idempotency_key"]: the argument that is one; empty: none
};

struct tool {
  std::string name;        ///< unescaped
  std::string definition;  ///< the whole object as it came
  span name_token;         ///< the value of `name` in definition, with its quotes
  span output_schema;      ///< in definition
  tool_hints hints;
  schema_headers headers;  ///< which arguments go in headers; with a problem: HTTP clients of the modern era drop it
  bool task_required = false;  ///< execution.taskSupport is "required": a plain call would be refused
};

struct tools_page {
  std::vector<tool> tools;
  std::string next_cursor;            ///< raw token for the next request's params.cursor; empty: this was the last page
  std::vector<std::string> problems;  ///< tools that had to be left out, one line each
};

/// Reads the result (not the whole response) of tools/list. A tool that cannot be used does not harm the others.
/// Errors: errc::bad_list, errc::not_json.
result<tools_page> read_tools_page(std::string_view result);

/// The definition under another name; all other bytes as they were.
std::string renamed(const tool& tool, std::string_view name);

}  // namespace switchgear::protocol
