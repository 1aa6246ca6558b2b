// Why a connection or a child of an upstream is of no use. port::fault says what it meant for a call.
#pragma once

#include "base/result.hpp"

namespace switchgear::upstream {

enum class errc {
  bad_url = 1,        ///< no http or https URL
  resolve_failed,     ///< the name has no address
  connect_failed,     ///< refused or unreachable
  connect_timed_out,  ///< not within connect_timeout
  tls_failed,         ///< handshake failed, or the certificate is not the host's or not trusted
  interrupted,        ///< the call's interrupt was raised while waiting
  end_of_stream,      ///< the peer closed
  broken,             ///< reset or another socket error
  bad_head,           ///< the peer's bytes are no HTTP response
  too_large,          ///< more than max_answer
};

error_code make_error_code(errc reason);

}  // namespace switchgear::upstream

template <>
struct boost::system::is_error_code_enum<switchgear::upstream::errc> : std::true_type {};
