// Tables of keys. A table reads a mapping, writes effective values and documents itself: one source for all three.
#pragma once

#include "config/field.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace switchgear::config {

/// A sort of value: how its text is read and written, and what the documentation says about it.
template <class Value>
struct kind {
  std::string name;                                        ///< "duration"
  std::string range;                                       ///< "1ms to 1h"
  std::function<std::optional<Value>(const field&)> read;  ///< reports what is wrong to the field
  std::function<std::string(const Value&)> write;          ///< one line of YAML; empty: not set
};

/// An effective value, to be printed. Either a value or members.
struct shown {
  std::string name;
  std::string value;
  std::vector<shown> members;
};

/// A value that was read, to be put where it belongs. Empty when it was wrong.
template <class Target>
using change = std::function<void(Target&)>;

/// A key of a mapping that describes a Target.
template <class Target>
struct key {
  std::string name;
  std::string kind;
  std::string range;
  std::string meaning;  ///< whole sentences, Markdown
  std::function<change<Target>(const field&)> read;
  std::function<std::optional<shown>(const Target&)> show;  ///< nothing: not set
};

template <class Target>
using keys = std::vector<key<Target>>;

/// A key for the member that `member` gives a reference to, for a Target& and for a const Target&.
template <class Target, class Value, class Member>
key<Target> value_key(std::string name, kind<Value> of, Member member, std::string meaning) {
  key<Target> made{std::move(name), of.name, of.range, std::move(meaning), {}, {}};
  made.read = [read = of.read, member](const field& from) -> change<Target> {
    auto value = read(from);
    if (!value) return {};
    return [member, value = *std::move(value)](Target& target) {
      auto& to = member(target);
      to = static_cast<std::remove_cvref_t<decltype(to)>>(value);
    };
  };
  made.show = [called = made.name, write = of.write, member](const Target& target) -> std::optional<shown> {
    std::string text = write(static_cast<Value>(member(target)));
    if (text.empty()) return std::nullopt;
    return shown{called, std::move(text), {}};
  };
  return made;
}

/// Reads the mapping and gives a change for each right key, in the order of the table whatever the order of the file.
/// Keys that the table does not know are errors.
template <class Target>
std::vector<change<Target>> read_section(const field& from, const keys<Target>& table);

template <class Target>
std::vector<shown> show_section(const Target& target, const keys<Target>& table) {
  std::vector<shown> all;
  for (const key<Target>& each : table) {
    if (auto one = each.show(target)) all.push_back(*std::move(one));
  }
  return all;
}

/// A key whose value is a mapping with a table of its own.
template <class Target, class Inner, class Member>
key<Target> section_key(std::string name, const keys<Inner>& table, Member member, std::string meaning) {
  key<Target> made{std::move(name), "mapping", "", std::move(meaning), {}, {}};
  made.read = [&table, member](const field& from) -> change<Target> {
    auto changes = read_section(from, table);
    return [member, changes = std::move(changes)](Target& target) {
      for (const auto& apply : changes) apply(member(target));
    };
  };
  made.show = [called = made.name, &table, member](const Target& target) -> std::optional<shown> {
    shown all{called, {}, show_section(member(target), table)};
    if (all.members.empty()) return std::nullopt;
    return all;
  };
  return made;
}

/// Reports a key that no table knows, with the name that was probably meant.
void report_unknown(const field::member& member, const std::vector<std::string_view>& known);

template <class Target>
std::vector<change<Target>> read_section(const field& from, const keys<Target>& table) {
  std::vector<change<Target>> changes;
  const auto members = from.members();
  if (!members) return changes;
  std::vector<std::string_view> known;
  for (const key<Target>& each : table) known.push_back(each.name);
  for (const field::member& member : *members) {
    if (std::find(known.begin(), known.end(), member.name) == known.end()) report_unknown(member, known);
  }
  for (const key<Target>& each : table) {
    for (const field::member& member : *members) {
      if (member.name != each.name) continue;
      if (auto apply = each.read(member.value)) changes.push_back(std::move(apply));
    }
  }
  return changes;
}

}  // namespace switchgear::config
