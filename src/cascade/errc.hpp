// Why a step of the cascade could not be prepared or taken.
#pragma once

#include <boost/system/error_code.hpp>

namespace switchgear::cascade {

enum class errc {
  bad_template = 1,       ///< a template is not a JSON object, or nested too deep
  bad_placeholder,        ///< a `{{` without its `}}`, or without a name between them
  misplaced_placeholder,  ///< one stands in the scheme, host or port of a URL
  bad_pointer,            ///< a placeholder that begins with `/` is no JSON Pointer
  bad_arguments,          ///< the caller's arguments are not a JSON object
  unknown_argument,       ///< the template names an argument that the caller did not give
  unusable_argument,      ///< an argument would change a URL's shape, or make it too long
  bad_result,             ///< a stored or secondary answer is not a JSON object
  unmapped,               ///< the template of a result points at what the answer does not have
};

boost::system::error_code make_error_code(errc reason);

}  // namespace switchgear::cascade

template <>
struct boost::system::is_error_code_enum<switchgear::cascade::errc> : std::true_type {};
