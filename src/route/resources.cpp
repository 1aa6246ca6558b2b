#include "route/resources.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace switchgear::route {

namespace {

constexpr std::string_view scheme = "switchgear://";

// How many templates of one upstream a URI is tried with: what a server lists must not decide how long every read
// takes.
constexpr std::size_t most_matchers = 128;

std::string with_alias(std::string_view alias, std::string_view uri) {
  return std::string(scheme).append(alias).append("/").append(uri);
}

struct found {
  const upstream_resources* from;
  const protocol::definition* defined;
};

// Under their exported URIs: of one that several list, the first alias has it as it is.
std::vector<item> items_of(std::vector<found> all, std::string_view what, std::vector<std::string>& problems) {
  std::ranges::sort(all, [](const found& a, const found& b) {
    return std::tie(a.defined->key, a.from->alias) < std::tie(b.defined->key, b.from->alias);
  });
  std::vector<item> items;
  const found* first = nullptr;
  for (const found& each : all) {
    const auto& [from, defined] = each;
    if (first == nullptr || first->defined->key != defined->key) first = &each;
    item& made = items.emplace_back();
    made.upstream = from->index;
    made.alias = from->alias;
    made.original = defined->key;
    const bool keeps = from->alias == first->from->alias;
    made.name = keeps ? defined->key : with_alias(from->alias, defined->key);
    made.definition = keeps ? defined->text : renamed(*defined, made.name);
    if (keeps) continue;
    problems.push_back(std::string(what) + " " + defined->key + " of " + made.alias + " is exported as " + made.name +
                       ": " + std::string(first->from->alias) + " lists it too");
  }
  return items;
}

}  // namespace

resources::resources(std::span<const upstream_resources> upstreams) {
  std::vector<found> listed, templates;
  for (const upstream_resources& from : upstreams) {
    owners_.push_back({std::string(from.alias), from.index});
    for (const protocol::definition& each : from.resources) listed.push_back({&from, &each});
    for (const protocol::definition& each : from.templates) templates.push_back({&from, &each});
  }
  resources_ = table<item>(items_of(std::move(listed), "resource", problems_), "resource");
  templates_ = table<item>(items_of(std::move(templates), "resource template", problems_), "resource template");
  for (const table<item>* each : {&resources_, &templates_}) {
    problems_.insert(problems_.end(), each->problems().begin(), each->problems().end());
  }
  compile_templates();
}

void resources::compile_templates() {
  std::vector<std::pair<std::uint32_t, std::size_t>> used;
  for (const item& listed : templates_.items()) {
    if (listed.name != listed.original) continue;  // its alias is in front of its URIs
    auto at = std::ranges::find(used, listed.upstream, &std::pair<std::uint32_t, std::size_t>::first);
    if (at == used.end()) at = used.insert(used.end(), {listed.upstream, 0});
    auto compiled = protocol::uri_template::compile(listed.original);
    if (!compiled || at->second == most_matchers) {
      problems_.push_back("resource template " + listed.original + " of " + listed.alias +
                          " finds no URIs: " + (compiled ? "there are too many" : compiled.error().message()));
      continue;
    }
    ++at->second;
    matchers_.push_back({std::move(*compiled), &listed});
  }
  std::ranges::sort(matchers_, [](const matcher& a, const matcher& b) {
    const std::size_t more = a.compiled.literal_size(), less = b.compiled.literal_size();
    return more != less ? more > less : a.listed->name < b.listed->name;
  });
}

std::optional<resource_place> resources::named(std::string_view uri) const {
  if (!uri.starts_with(scheme)) return std::nullopt;
  uri.remove_prefix(scheme.size());
  const std::size_t slash = uri.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto named = std::ranges::find(owners_, uri.substr(0, slash), &owner::alias);
  if (named == owners_.end()) return std::nullopt;
  return resource_place{named->index, uri.substr(slash + 1)};
}

std::optional<resource_place> resources::find(std::string_view uri) const {
  if (uri.empty()) return std::nullopt;
  if (const item* listed = resources_.find(uri)) return resource_place{listed->upstream, listed->original};
  if (const auto place = named(uri)) return place;
  for (const matcher& each : matchers_) {
    if (each.compiled.matches(uri)) return resource_place{each.listed->upstream, uri};
  }
  if (owners_.size() == 1) return resource_place{owners_.front().index, uri};
  return std::nullopt;
}

std::optional<resource_place> resources::find_reference(std::string_view uri_or_template) const {
  const item* listed = templates_.find(uri_or_template);
  if (listed != nullptr) return resource_place{listed->upstream, listed->original};
  return find(uri_or_template);
}

std::string resources::exported(std::uint32_t upstream, std::string_view uri) const {
  const auto plain = find(uri);
  if (plain && plain->upstream == upstream && plain->uri == uri) return std::string(uri);
  const auto mine = std::ranges::find(owners_, upstream, &owner::index);
  return mine != owners_.end() ? with_alias(mine->alias, uri) : std::string(uri);
}

}  // namespace switchgear::route
