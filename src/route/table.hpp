// What all upstreams list of one kind, merged: one entry a name, and the JSON array of their definitions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace switchgear::route {

/// Something that an upstream listed, as clients know it.
struct item {
  std::string name;            ///< exported: a name, a URI or a URI template
  std::uint32_t upstream = 0;  ///< as the caller counts them
  std::string alias;           ///< of the upstream
  std::string original;        ///< what the upstream calls it
  std::string definition;      ///< as listed, with the exported name
};

/// Immutable. Movable, not copyable: the lookup table points into the entries. Item is `item` or made of it.
template <class Item>
class table {
 public:
  table() = default;
  /// The result is the same whatever the order of `all`. `what` names the kind in problems.
  table(std::vector<Item> all, std::string_view what) {
    // Of a name that was made for one and is another's own, the made one stays: an upstream could otherwise take over
    // a name that is out by listing something that is called like it. The definition counts too: of what is listed
    // twice, every replica must keep the same one.
    std::ranges::sort(all, [](const Item& a, const Item& b) {
      const bool own_a = a.name.ends_with(a.original), own_b = b.name.ends_with(b.original);
      return std::tie(a.name, own_a, a.alias, a.original, a.definition) <
             std::tie(b.name, own_b, b.alias, b.original, b.definition);
    });
    items_.reserve(all.size());
    for (Item& each : all) {
      if (!items_.empty() && items_.back().name == each.name) {
        problems_.push_back(problem_of(what, items_.back(), each));
      } else {
        items_.push_back(std::move(each));
      }
    }
    by_name_.reserve(items_.size());
    definitions_ = "[";
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
      by_name_.emplace(items_[i].name, i);
      if (i != 0) definitions_ += ',';
      definitions_ += items_[i].definition;
    }
    definitions_ += ']';
  }

  table(table&&) noexcept = default;
  table& operator=(table&&) noexcept = default;
  table(const table&) = delete;
  table& operator=(const table&) = delete;

  /// Null if there is none. Lives as long as the table. One hash of the name.
  const Item* find(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &items_[found->second];
  }

  /// Sorted by name.
  const std::vector<Item>& items() const { return items_; }
  /// A JSON array of all definitions, in the same order, ready to be sent.
  std::string_view definitions() const { return definitions_; }
  /// What had to be left out, one line each: two of one name, or one listed twice.
  const std::vector<std::string>& problems() const { return problems_; }

 private:
  static std::string problem_of(std::string_view what, const Item& kept, const Item& left_out) {
    std::string line = std::string(what) + " " + left_out.original + " of " + left_out.alias + " is left out: ";
    if (kept.alias == left_out.alias && kept.original == left_out.original) return line + "it is listed twice";
    return line + "its name " + left_out.name + " is taken by " + kept.original + " of " + kept.alias;
  }

  std::vector<Item> items_;
  std::unordered_map<std::string_view, std::uint32_t> by_name_;
  std::string definitions_ = "[]";
  std::vector<std::string> problems_;
};

}  // namespace switchgear::route
