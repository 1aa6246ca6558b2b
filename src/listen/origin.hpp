// Who may talk to the gateway through a browser: the defence against DNS rebinding.
// Source: MCP 2025-11-25 basic/transports "Security Warning".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace switchgear::listen {

/// True if `host` (a Host field) names this machine's loopback or is one of `allowed` (with or without its port);
/// "*" allows all.
bool host_allowed(std::string_view host, const std::vector<std::string>& allowed);

/// True if `origin` (an Origin field, "" when absent) is absent, a loopback origin, or one of `allowed`.
bool origin_allowed(std::string_view origin, const std::vector<std::string>& allowed);

}  // namespace switchgear::listen
