// The placeholders of templates: {{name}} is a member of a JSON object, {{/filter/0/name}} any value in it.
// Source: RFC 6901 (JSON Pointer).
#pragma once

#include "base/result.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace switchgear::cascade {

/// A placeholder and where it stands in its text. A view of that text.
struct placeholder {
  std::size_t begin = 0, end = 0;  ///< braces included
  std::string_view path;           ///< a member's name, or a JSON Pointer if it begins with `/`; not empty
};

/// The next one of `text` at or after `from`; nothing if there is none. Errors: bad_placeholder, bad_pointer.
result<std::optional<placeholder>> next_placeholder(std::string_view text, std::size_t from);

/// Checks all of a text. Errors: as next_placeholder.
error_code check_placeholders(std::string_view text);

/// What a path means in `from`; null if it points nowhere.
const boost::json::value* find_value(const boost::json::value& from, std::string_view path);

/// A value as text: a string as it is, any other value as its JSON.
std::string as_text(const boost::json::value& value);

/// The member of the outermost object that a path leads through: of `/filter/0` it is `filter`.
std::string first_member(std::string_view path);

}  // namespace switchgear::cascade
