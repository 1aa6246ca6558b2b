#include "protocol/tools_list.hpp"

#include "protocol/errc.hpp"
#include "protocol/scan.hpp"
#include "protocol/text.hpp"

namespace switchgear::protocol {

namespace {

bool key_of(scanner& in, std::string& space, std::string_view& key) {
  std::string_view raw;
  return in.key(raw) && text_of(raw, space, key);
}

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
    out.definition = text_;
    out.name_token = span_of(name);
    if (!output.empty() && output != "null") out.output_schema = span_of(output);
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

  void execution(tool& out) {
    for (bool more = in_.open('{'); more; more = in_.another('}')) {
      std::string_view key, value;
      if (!key_of(in_, space_, key)) return;
      const bool support = key == "taskSupport";
      if (!in_.skip(value)) return;
      if (support) out.task_required = value == R"("required")";
    }
  }

  span span_of(std::string_view part) const {
    return {static_cast<std::uint32_t>(part.data() - text_.data()), static_cast<std::uint32_t>(part.size())};
  }

  std::string_view text_;
  scanner in_;
  std::string space_;
};

std::string problem_of(std::size_t position, const tool& seen, const char* why) {
  std::string line = "tool " + std::to_string(position + 1);
  if (!seen.name.empty()) line.append(" (").append(head(seen.name, 128)).append(")");
  return line.append(" is left out: ").append(why);
}

}  // namespace

result<tools_page> read_tools_page(std::string_view result) {
  token_index index, inner;
  scanner in(result, index);
  if (!in.ok()) return in.why();
  if (in.next() != '{') return errc::bad_tools_list;

  tools_page page;
  std::string space;
  bool listed = false;
  for (bool more = in.open('{'); more; more = in.another('}')) {
    std::string_view key, value;
    if (!key_of(in, space, key)) return errc::not_json;
    if (key == "tools") {
      if (listed || in.next() != '[') return errc::bad_tools_list;
      listed = true;
      std::size_t position = 0;
      for (bool another = in.open('['); another; another = in.another(']')) {
        if (!in.skip(value)) return in.why();
        tool seen;
        if (const char* why = definition_reader(value, inner).read(seen)) {
          page.problems.push_back(problem_of(position, seen, why));
        } else {
          page.tools.push_back(std::move(seen));
        }
        ++position;
      }
    } else if (key == "nextCursor") {
      if (!in.skip(value)) return in.why();
      if (value.starts_with('"')) page.next_cursor = value;
    } else {
      in.skip();
    }
  }
  if (!in.finish()) return in.why();
  if (!listed) return errc::bad_tools_list;
  return page;
}

std::string renamed(const tool& tool, std::string_view name) {
  const std::string_view definition = tool.definition;
  const std::string_view tail = definition.substr(tool.name_token.offset + tool.name_token.size);
  std::string out;
  out.reserve(definition.size() + name.size());
  out.append(definition.substr(0, tool.name_token.offset));
  append_quoted(out, name);
  out.append(tail);
  return out;
}

}  // namespace switchgear::protocol
