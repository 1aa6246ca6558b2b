#include "protocol/definitions_list.hpp"

#include "protocol/list_page.hpp"

namespace switchgear::protocol {

namespace {

struct kind_words {
  std::string_view array, what, key;
};

kind_words words_of(definition_kind kind) {
  switch (kind) {
    case definition_kind::prompt:
      return {"prompts", "prompt", "name"};
    case definition_kind::resource:
      return {"resources", "resource", "uri"};
    case definition_kind::resource_template:
      return {"resourceTemplates", "resource template", "uriTemplate"};
  }
  return {};
}

bool is_object_array(std::string_view json) {
  token_index index;
  scanner in(json, index);
  if (in.next() != '[') return false;
  for (bool more = in.open('['); more; more = in.another(']')) {
    if (in.next() != '{' || !in.skip()) return false;
  }
  return in.finish();
}

// One element, whose text is known to be JSON. Empty if it can be used, else what is wrong with it.
std::string_view read_definition(std::string_view text, definition_kind kind, token_index& index, definition& out) {
  const std::string_view key_member = words_of(kind).key;
  scanner in(text, index);
  if (in.next() != '{') return "it is not an object";
  std::string space;
  std::string_view key, name, arguments;
  for (bool more = in.open('{'); more; more = in.another('}')) {
    std::string_view member;
    if (!key_of(in, space, member)) return "it is not valid JSON";
    std::string_view* wanted = nullptr;
    if (member == key_member) {
      wanted = &key;
    } else if (member == "name") {
      wanted = &name;
    } else if (member == "arguments" && kind == definition_kind::prompt) {
      wanted = &arguments;
    }
    if (wanted == nullptr) {
      in.skip();
    } else if (!wanted->empty()) {
      return "a member is there twice";
    } else {
      in.skip(*wanted);
    }
  }
  if (!in.finish()) return "it is not valid JSON";
  std::string_view unescaped;
  if (!key.starts_with('"') || !text_of(key, space, unescaped) || unescaped.empty()) {
    return kind == definition_kind::prompt     ? "it has no name"
           : kind == definition_kind::resource ? "it has no uri"
                                               : "it has no uriTemplate";
  }
  out.key = unescaped;
  if (kind != definition_kind::prompt && !name.starts_with('"')) return "it has no name";
  if (!arguments.empty() && arguments != "null" && !is_object_array(arguments)) return "its arguments are not a list";
  out.text = text;
  out.key_token = span_of(key, text);
  return {};
}

}  // namespace

result<definitions_page> read_definitions_page(definition_kind kind, std::string_view result) {
  const kind_words words = words_of(kind);
  definitions_page page;
  token_index inner;
  std::size_t position = 0;
  const errc failed = read_list_page(result, words.array, page.next_cursor, [&](std::string_view element) {
    ++position;
    definition seen;
    const std::string_view why = read_definition(element, kind, inner, seen);
    if (why.empty()) {
      page.definitions.push_back(std::move(seen));
    } else {
      page.problems.push_back(left_out(words.what, position, seen.key, why));
    }
  });
  if (failed != errc{}) return failed;
  return page;
}

std::string renamed(const definition& defined, std::string_view key) {
  return with_name(defined.text, defined.key_token, key);
}

}  // namespace switchgear::protocol
