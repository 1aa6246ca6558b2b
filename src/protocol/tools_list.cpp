#include "protocol/tools_list.hpp"

#include "protocol/list_page.hpp"

namespace switchgear::protocol {

namespace {

std::optional<bool> truth(std::string_view raw) {
  if (raw == "true") return true;
  if (raw == "false") return false;
  return std::nullopt;
}

// One tool, whose text is known to be JSON.
class definition_reader {
 public:
  definition_reader(std::string_view text, token_index& index) : text_(text), in_(text, index) {}

  // Null if it can be used, else what is wrong with it.
  const char* read(tool& out) {
    if (in_.next() != '{') return "it is not an object";
    std::string_view name, input, output;
    for (bool more = in_.open('{'); more; more = in_.another('}')) {
      std::string_view key;
      if (!key_of(in_, space_, key)) return "it is not valid JSON";
      if (key == "name") {
        if (!once(name)) return "it has two names";
      } else if (key == "inputSchema") {
        if (!once(input)) return "it has two input schemas";
      } else if (key == "outputSchema") {
        if (!once(output)) return "it has two output schemas";
      } else if (key == "annotations" && in_.next() == '{') {
        annotations(out.hints);
      } else if (key == "_meta" && in_.next() == '{') {
        meta(out.hints);
      } else if (key == "execution" && in_.next() == '{') {
        execution(out);
      } else {
        in_.skip();
      }
    }
    if (!in_.finish()) return "it is not valid JSON";
    std::string_view text;
    if (!name.starts_with('"') || !text_of(name, space_, text)) return "it has no name";
    if (text.empty()) return "its name is empty";
    out.name = text;
    // Clients refuse the whole list for one tool without an input schema.
    if (!input.starts_with('{')) return "its inputSchema is not an object";
    out.headers = read_schema_headers(input);
    out.definition = text_;
    out.name_token = span_of(name, text_);
    if (!output.empty() && output != "null") out.output_schema = span_of(output, text_);
    return nullptr;
  }

 private:
  bool once(std::string_view& value) {
    if (!value.empty()) return false;
    in_.skip(value);
    return true;
  }

  void annotations(tool_hints& hints) {
    for (bool more = in_.open('{'); more; more = in_.another('}')) {
      std::string_view key, value;
      if (!key_of(in_, space_, key)) return;
      std::optional<bool>* hint = key == "readOnlyHint"      ? &hints.read_only
                                  : key == "idempotentHint"  ? &hints.idempotent
                                  : key == "destructiveHint" ? &hints.destructive
                                  : key == "openWorldHint"   ? &hints.open_world
                                                             : nullptr;
      if (!in_.skip(value)) return;
      if (hint != nullptr) *hint = truth(value);
    }
  }

  void meta(tool_hints& hints) {
    for (bool more = in_.open('{'); more; more = in_.another('}')) {
      std::string_view key, value;
      if (!key_of(in_, space_, key)) return;
      const bool names_key = key == "dev.switchgear/idempotency_key";
      if (!in_.skip(value)) return;
      std::string_view text;
      if (names_key && value.starts_with('"') && text_of(value, space_, text)) hints.idempotency_key = text;
    }
  }

  void execution(tool& out) {
    for (bool more = in_.open('{'); more; more = in_.another('}')) {
      std::string_view key, value;
      if (!key_of(in_, space_, key)) return;
      const bool support = key == "taskSupport";
      if (!in_.skip(value)) return;
      if (support) out.task_required = value == R"("required")";
    }
  }

  std::string_view text_;
  scanner in_;
  std::string space_;
};

}  // namespace

result<tools_page> read_tools_page(std::string_view result) {
  tools_page page;
  token_index inner;
  std::size_t position = 0;
  const errc failed = read_list_page(result, "tools", page.next_cursor, [&](std::string_view element) {
    ++position;
    tool seen;
    if (const char* why = definition_reader(element, inner).read(seen)) {
      page.problems.push_back(left_out("tool", position, seen.name, why));
    } else {
      page.tools.push_back(std::move(seen));
    }
  });
  if (failed != errc{}) return failed;
  return page;
}

std::string renamed(const tool& tool, std::string_view name) {
  return with_name(tool.definition, tool.name_token, name);
}

}  // namespace switchgear::protocol
