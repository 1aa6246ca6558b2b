// What the admin API says to a request: a function of the request and of what the gateway is.
#pragma once

#include "console/admin.hpp"

#include <string>
#include <string_view>

namespace switchgear::console {

struct request {
  std::string_view method;
  std::string_view target;  ///< path and query; the query is ignored
  std::string_view host;    ///< header, empty when absent
  std::string_view origin;  ///< header, empty when absent
};

struct reply {
  unsigned status = 200;
  std::string_view media_type = "application/json";
  std::string body;
};

/// Never throws: a source that does becomes a 500.
reply answer(const request& asked, const admin_settings& settings, const admin_sources& sources);

/// The body of /api/circuits: {"circuits": [...], "upstreams": [...]}. Its members are documented in
/// docs/operations.md; `switchgear status` and the page read them.
std::string circuits_json(const admin_sources& sources);

/// The page of `/`: one HTML text without outside resources.
std::string_view page();

}  // namespace switchgear::console
