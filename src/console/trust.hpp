// Who may read the admin API from a browser: the defence against DNS rebinding.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace switchgear::console {

/// True when a Host header cannot be the name of a foreign web page that was rebound to our address: localhost, any IP
/// address (rebinding needs a name), one of `allowed`, or absent (browsers always send it). Ports are not compared,
/// letter case does not count, "*" in `allowed` accepts all.
bool host_trusted(std::string_view host, const std::vector<std::string>& allowed);

/// True when an Origin header is absent, or an http(s) origin whose host is localhost, a loopback address, in
/// `allowed`, or the one that the request names as Host. "null" is never trusted.
bool origin_trusted(std::string_view origin, std::string_view host, const std::vector<std::string>& allowed);

}  // namespace switchgear::console
