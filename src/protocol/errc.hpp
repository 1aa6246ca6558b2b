// Why a text is no message, list, event or schema that we can use.
#pragma once

#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>

#include <type_traits>

namespace switchgear::protocol {

enum class errc {
  not_json = 1,  ///< not one complete JSON value in UTF-8; also trailing bytes and unbalanced brackets
  not_object,    ///< a JSON value, but neither an object nor an array
  batch,         ///< a JSON array; no revision that we speak has batches, except 2025-03-26, where we do not serve them
  bad_version,   ///< `jsonrpc` is absent or not "2.0"
  bad_id,        ///< `id` is neither a string nor an integer; `null` only stands in an error response
  bad_method,    ///< `method` is not a string, or empty
  bad_params,    ///< `params` is not an object
  no_kind,       ///< none of method, result, error
  mixed_kinds,   ///< more than one of method, result, error
  missing_id,    ///< a response without id
  bad_error,     ///< `error` is not an object with an integer `code`
  duplicate_member,  ///< a member that we read is there twice: two readers could see two messages
  too_deep,          ///< nested deeper than `max_depth`
  too_large,         ///< above the limit that the caller gave, or 4 GiB
  bad_list,          ///< the result of a list method is not an object with the one array that it should have
  bad_schema,        ///< not a JSON Schema that we can check against
  bad_state,         ///< a requestState that we did not give for this request
  bad_template,      ///< not a URI template that we can match
  expired,           ///< a requestState that came back too late
};

/// How deep brackets may nest in anything that is read here.
inline constexpr unsigned max_depth = 256;

const boost::system::error_category& category() noexcept;

inline boost::system::error_code make_error_code(errc reason) noexcept {
  return {static_cast<int>(reason), category()};
}

}  // namespace switchgear::protocol

namespace boost::system {
template <>
struct is_error_code_enum<switchgear::protocol::errc> : std::true_type {};
}  // namespace boost::system
