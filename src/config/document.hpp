// A YAML or JSON text as a tree that knows where each value stands.
#pragma once

#include "config/problem.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::config {

/// One value of the document. Members of a mapping keep the order of the file, and keys that stand twice stay twice.
struct node {
  enum class kind : std::uint8_t { null, scalar, list, map };
  struct member;

  node::kind what = kind::null;
  int line = 0;         ///< from 1
  int column = 0;       ///< from 1
  bool quoted = false;  ///< the scalar stood in quotes, so it is a text whatever it looks like
  std::string text;     ///< of a scalar, its escapes resolved
  std::vector<node> items;
  std::vector<member> members;

  /// The first member of that name; null when there is none.
  const node* find(std::string_view name) const;
};

struct node::member {
  std::string name;
  int line = 0;
  int column = 0;
  node value;
};

/// Largest text, deepest nesting and most values of a document that is read.
inline constexpr std::size_t most_bytes = 4 * 1024 * 1024;
inline constexpr int most_levels = 32;
inline constexpr std::size_t most_values = 200'000;

/// Parses one document. Anchors, aliases, tags and everything above the bounds are problems, so a small text stays a
/// small tree. Returns false, with the first problem, when the text is no such document.
bool parse(std::string_view text, node& root, problem& found);

}  // namespace switchgear::config
