// Why bytes are no HTTP message that we accept.
#pragma once

#include "base/result.hpp"

namespace switchgear::http {

enum class errc {
  malformed_head = 1,   ///< not HTTP/1.x: bad line, bad field, NUL, bare LF, folded field, space before a colon
  head_too_large,       ///< longer than the limit
  duplicate_field,      ///< a field that may stand once stands twice with different meaning
  bad_framing,          ///< Content-Length with Transfer-Encoding, lengths that differ, an unknown transfer coding
  bad_chunk,            ///< chunk size or chunk end that is none
  unsupported_version,  ///< neither HTTP/1.0 nor HTTP/1.1
  bad_encoding,         ///< a compressed body that is none
  too_much,             ///< more than the limit comes out of a compressed body
};

error_code make_error_code(errc reason);

}  // namespace switchgear::http

template <>
struct boost::system::is_error_code_enum<switchgear::http::errc> : std::true_type {};
