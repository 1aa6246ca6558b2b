// The address of an HTTP upstream.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace switchgear::upstream {

struct url {
  bool tls = false;
  std::string host;  ///< name or address, an IPv6 address without its brackets
  std::uint16_t port = 0;
  std::string authority;  ///< for the Host field: brackets and a port that is not the default's included
  std::string target;     ///< path and query, at least "/"
};

/// Reads http://host[:port][/path][?query] or https://. Errors: errc::bad_url (upstream/errc.hpp); a user name, a
/// fragment or another scheme is one.
result<url> read_url(std::string_view text);

}  // namespace switchgear::upstream
