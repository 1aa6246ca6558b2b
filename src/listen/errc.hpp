// Why the gateway cannot listen, or a client's connection ended.
#pragma once

#include "base/result.hpp"

namespace switchgear::listen {

enum class errc {
  bad_address = 1,  ///< not an IP address of this machine
  address_in_use,   ///< another process listens there
  cannot_listen,    ///< any other reason of the system
  closed,           ///< the client closed or broke the connection
  timed_out,        ///< the client was too slow
  too_large,        ///< a body over the limit
};

error_code make_error_code(errc reason);

}  // namespace switchgear::listen

template <>
struct boost::system::is_error_code_enum<switchgear::listen::errc> : std::true_type {};
