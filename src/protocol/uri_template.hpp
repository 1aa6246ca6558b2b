// Whether a URI may have come of a template, so that it can be routed to who listed that. Source: RFC 6570; MCP
// 2025-11-25 server/resources "Resource Templates".
#pragma once

#include "base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace switchgear::protocol {

/// Longest URI that is matched with templates, and longest template.
inline constexpr std::size_t longest_uri = 2 * 1024;
inline constexpr std::size_t most_expressions = 16;

/// A compiled template. Immutable and safe to use from several threads.
///
/// Matching is generous: it asks which upstream may know the URI, and the upstream then judges by itself. A simple
/// `{expression}` takes one path segment or a part of one, `{+reserved}` anything, `{/path}` any number of segments,
/// `{?query}` and `{&query}` up to the fragment; all but the first two may be absent. Names of variables and modifiers
/// play no part.
class uri_template {
 public:
  /// Levels 1 to 4 of RFC 6570. Errors: errc::bad_template (a brace without its partner, an empty expression, an
  /// operator that RFC 6570 keeps for later), errc::too_large.
  static result<uri_template> compile(std::string_view text);

  /// Work is linear in the URI for each piece of the template, whatever is in them. False above `longest_uri`.
  bool matches(std::string_view uri) const;

  /// Characters outside of expressions: of two templates that match, the one with more of them says more.
  std::size_t literal_size() const { return literal_size_; }

 private:
  enum class reach : std::uint8_t { segment, path, query, anything };
  /// A literal, or an expression's value: `lead` and then one or more characters within `reach`.
  struct piece {
    std::string literal;  // empty: an expression
    char lead = '\0';     // NUL: none
    reach within = reach::segment;
    bool optional = false;
  };

  static bool read_expression(std::string_view inside, piece& out);
  static bool is_within(char c, reach within);

  std::vector<piece> pieces_;
  std::size_t literal_size_ = 0;
};

}  // namespace switchgear::protocol
