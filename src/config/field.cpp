#include "config/field.hpp"

#include <algorithm>
#include <unordered_map>

namespace switchgear::config {
namespace {

std::string_view describe(node::kind what) {
  switch (what) {
    case node::kind::null:
      return "nothing";
    case node::kind::scalar:
      return "a single value";
    case node::kind::list:
      return "a list";
    case node::kind::map:
      return "a mapping";
  }
  return "something else";
}

bool is_variable_name(std::string_view name) {
  const auto is_start = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; };
  return !name.empty() && is_start(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_start(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

void findings::error(problem found) {
  if (!full()) errors.push_back(std::move(found));
}

void findings::warning(problem found) {
  if (warnings.size() < most) warnings.push_back(std::move(found));
}

void field::fail(std::string what) const {
  into_->error({at_->line, at_->column, key_, std::move(what)});
}

void field::warn(std::string what) const {
  into_->warning({at_->line, at_->column, key_, std::move(what)});
}

std::optional<std::string> field::text() const {
  if (at_->what != node::kind::scalar) {
    fail("is " + std::string(describe(at_->what)) + "; a single value is needed");
    return std::nullopt;
  }
  if (at_->text.find("${") == std::string::npos) return at_->text;
  std::string wrong;
  auto replaced = substitute(at_->text, *into_, wrong);
  if (!replaced) fail(wrong);
  return replaced;
}

std::optional<std::vector<field>> field::items() const {
  if (at_->what != node::kind::list) {
    fail("is " + std::string(describe(at_->what)) + "; a list is needed, as in [a, b]");
    return std::nullopt;
  }
  std::vector<field> all;
  all.reserve(at_->items.size());
  for (const node& item : at_->items) {
    all.emplace_back(item, key_ + '[' + std::to_string(all.size() + 1) + ']', *into_);
  }
  return all;
}

std::optional<std::vector<field::member>> field::members() const {
  if (at_->what != node::kind::map && at_->what != node::kind::null) {
    fail("is " + std::string(describe(at_->what)) + "; a mapping is needed, as in {key: value}");
    return std::nullopt;
  }
  std::vector<member> all;
  all.reserve(at_->members.size());
  std::unordered_map<std::string_view, int> first_lines;
  for (const node::member& each : at_->members) {
    member made{
        each.name, {each.value, key_.empty() ? each.name : key_ + '.' + each.name, *into_}, each.line, each.column};
    const auto [first, is_new] = first_lines.emplace(each.name, each.line);
    if (is_new) {
      all.push_back(std::move(made));
    } else {
      made.fail("stands twice; it is first on line " + std::to_string(first->second));
    }
  }
  return all;
}

field field::nearest(std::string_view name) const {
  const node* found = at_->find(name);
  if (found == nullptr) return *this;
  return {*found, key_.empty() ? std::string(name) : key_ + '.' + std::string(name), *into_};
}

void field::member::fail(std::string what) const {
  value.into().error({line, column, value.key(), std::move(what)});
}

void field::member::warn(std::string what) const {
  value.into().warning({line, column, value.key(), std::move(what)});
}

std::optional<std::string> substitute(std::string_view text, findings& into, std::string& wrong) {
  constexpr std::size_t longest = 64 * 1024;
  std::string out;
  while (true) {
    const std::size_t at = text.find("${");
    if (at == text.npos) return out.append(text);
    if (at > 0 && text[at - 1] == '$') {
      out.append(text.substr(0, at)).append("{");
      text.remove_prefix(at + 2);
      continue;
    }
    out.append(text.substr(0, at));
    const std::size_t end = text.find('}', at);
    if (end == text.npos) {
      wrong = "`${` is not closed by `}`; write `$${` for the characters themselves";
      return std::nullopt;
    }
    std::string_view name = text.substr(at + 2, end - at - 2);
    std::optional<std::string_view> otherwise;
    if (const std::size_t dash = name.find(":-"); dash != name.npos) {
      otherwise = name.substr(dash + 2);
      name = name.substr(0, dash);
    }
    if (!is_variable_name(name)) {
      wrong = "`${" + std::string(name) +
              "}` is not the name of an environment variable; write `$${` for the characters themselves";
      return std::nullopt;
    }
    if (auto value = into.variables(name)) {
      out.append(*value);
      const std::pair used{std::string(name), *std::move(value)};
      if (std::find(into.substituted.begin(), into.substituted.end(), used) == into.substituted.end()) {
        into.substituted.push_back(used);
      }
    } else if (otherwise) {
      out.append(*otherwise);
    } else {
      wrong = "the environment variable " + std::string(name) + " is not set; set it, or write ${" + std::string(name) +
              ":-default}";
      return std::nullopt;
    }
    if (out.size() > longest) {
      wrong = "is longer than 64 KiB once its variables are filled in";
      return std::nullopt;
    }
    text.remove_prefix(end + 1);
  }
}

}  // namespace switchgear::config
