// Where an upstream sends us, and whether we go there. Source: RFC 9110 section 15.4.
#pragma once

#include "upstream/url.hpp"

#include <string>
#include <string_view>

namespace switchgear::upstream {

struct redirection {
  std::string target;   ///< path and query in the same origin; empty: not followed
  std::string problem;  ///< then: why, for people
};

/// A redirect that keeps method and body (307, 308) is followed within the origin. Nothing that we send, a credential
/// least of all, goes to another one; a redirect that would turn a call into a GET would lose it.
redirection follow(const url& from, int status, std::string_view location);

/// `reference` as seen from `base`, and only if it lies in the same origin. Errors: errc::bad_url.
result<url> within_origin(const url& base, std::string_view reference);

}  // namespace switchgear::upstream
