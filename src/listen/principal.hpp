// Who a request comes from, by the headers that it came with.
#pragma once

#include "listen/http_reply.hpp"
#include "port/settings.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace switchgear::listen {

/// Bytes of the longest name that a header may give a principal.
inline constexpr std::size_t longest_principal = 256;

/// Writes into `who` who calls: what the header settings.principal says; where it is absent or empty, a digest of the
/// credentials that upstreams get (settings.credentials), which begins with a blank as no value of a header does; where
/// there is none of these either, "". Refused with 400: one of these headers twice, and a value that is no such name.
/// `head` is one that http::read_request_head has accepted; with neither setting nobody looks at it.
refused_request identify(std::string_view head, const port::listen_settings& settings, std::string& who);

}  // namespace switchgear::listen
