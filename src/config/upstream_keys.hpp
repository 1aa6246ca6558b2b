// The keys of one tool server: `upstreams.<alias>`, and an entry of an mcp.json.
#pragma once

#include "config/gateway.hpp"
#include "config/schema.hpp"

#include <string>
#include <string_view>

namespace switchgear::config {

const keys<upstream>& upstream_keys();
const keys<upstream>& tls_keys();

/// The keys that desktop clients write; others are theirs alone and are tolerated with a warning.
const keys<upstream>& mcp_json_keys();

/// Checks what no single key can see: a server is reached over HTTP or started as a child, never both.
void check_upstream(const field& at, const upstream& made);

/// What is wrong with an alias, as a sentence; empty when it is good.
std::string alias_fault(std::string_view alias);

}  // namespace switchgear::config
