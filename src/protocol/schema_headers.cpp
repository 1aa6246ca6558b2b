#include "protocol/schema_headers.hpp"

#include "protocol/list_page.hpp"
#include "protocol/scan.hpp"
#include "protocol/text.hpp"

#include <algorithm>
#include <array>

namespace switchgear::protocol {

namespace {

constexpr std::string_view annotation = "x-mcp-header";

// Bounds what a schema of a few bytes can make every call do; no tool comes near them.
constexpr std::size_t deepest_path = 32;
constexpr std::size_t longest_path = 1024;

constexpr std::array<std::string_view, 14> schema_keywords{"items",
                                                           "prefixItems",
                                                           "contains",
                                                           "additionalProperties",
                                                           "unevaluatedProperties",
                                                           "unevaluatedItems",
                                                           "not",
                                                           "if",
                                                           "then",
                                                           "else",
                                                           "oneOf",
                                                           "anyOf",
                                                           "allOf",
                                                           "propertyNames"};
constexpr std::array<std::string_view, 4> keywords_with_names{"patternProperties", "dependentSchemas", "$defs",
                                                              "definitions"};

bool is_token(std::string_view text) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           marks.find(c) != std::string_view::npos;
  });
}

bool same_whatever_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// Recursion ends at max_depth: the scanner goes no deeper.
class annotation_reader {
 public:
  explicit annotation_reader(std::string_view schema) : in_(schema, index_) {}

  schema_headers read() {
    visit(true);
    if (!in_.ok()) complain("its inputSchema is not valid JSON");
    if (!made_.problem.empty()) made_.arguments.clear();
    return std::move(made_);
  }

 private:
  // One schema; `reachable`: through nothing but `properties`.
  void visit(bool reachable) {
    if (in_.next() != '{') {
      in_.skip();
      return;
    }
    std::string_view header, type;
    for (bool more = in_.open('{'); more; more = in_.another('}')) {
      std::string_view key;
      if (!key_of(in_, space_, key)) return;
      if (key == annotation) {
        if (!header.empty()) complain("it has two");
        in_.skip(header);
      } else if (key == "type") {
        in_.skip(type);
      } else if (key == "properties") {
        visit_named(reachable);
      } else if (std::ranges::find(keywords_with_names, key) != keywords_with_names.end()) {
        visit_named(false);
      } else if (std::ranges::find(schema_keywords, key) != schema_keywords.end()) {
        visit_unreachable();
      } else {
        in_.skip();
      }
    }
    if (!header.empty()) add(reachable, header, type);
  }

  void visit_named(bool reachable) {
    if (in_.next() != '{') {
      in_.skip();
      return;
    }
    for (bool more = in_.open('{'); more; more = in_.another('}')) {
      std::string_view name;
      if (!key_of(in_, space_, name)) return;
      path_.emplace_back(name);
      visit(reachable);
      path_.pop_back();
    }
  }

  void visit_unreachable() {
    if (in_.next() != '[') return visit(false);
    for (bool more = in_.open('['); more; more = in_.another(']')) visit(false);
  }

  void add(bool reachable, std::string_view header, std::string_view type) {
    std::string_view name;
    std::size_t length = 0;
    for (const std::string& step : path_) length += step.size();
    if (!reachable || path_.empty()) return complain("it is not at a plain property");
    if (!header.starts_with('"') || !text_of(header, space_, name) || !is_token(name)) {
      return complain("it is no header name");
    }
    if (type != R"("string")" && type != R"("integer")" && type != R"("boolean")") {
      return complain("it is at neither a string nor an integer nor a boolean");
    }
    if (path_.size() > deepest_path || length > longest_path) return complain("it is too deep");
    std::string field = "Mcp-Param-" + std::string(name);
    if (std::ranges::any_of(made_.arguments, [&](const auto& one) { return same_whatever_case(one.header, field); })) {
      return complain("another has the same header name");
    }
    if (made_.arguments.size() == most_mirrored) return complain("there are too many");
    made_.arguments.push_back({std::move(field), path_});
  }

  void complain(std::string_view why) {
    constexpr std::size_t longest_echo = 128;
    if (!made_.problem.empty()) return;
    std::string where;
    for (const std::string& step : path_) {
      if (where.size() < longest_echo) where.append(where.empty() ? "" : ".").append(step);
    }
    made_.problem.append(annotation).append(where.empty() ? "" : " of ").append(head(where, longest_echo));
    made_.problem.append(": ").append(why);
  }

  token_index index_;
  scanner in_;
  std::string space_;
  std::vector<std::string> path_;
  schema_headers made_;
};

}  // namespace

schema_headers read_schema_headers(std::string_view input_schema) {
  // Nearly all schemas have none, and looking for a word costs less than reading JSON; an escape could hide it.
  const auto holds = [&](std::string_view word) { return input_schema.find(word) != std::string_view::npos; };
  if (!holds(annotation) && !holds("\\u")) return {};
  return annotation_reader(input_schema).read();
}

}  // namespace switchgear::protocol
